import { describe, expect, test } from 'vitest'
import { detectTestRun } from '../../src/command/detect-test-run.ts'

describe('a test run is detected in', () => {
  test.each([
    ['npm test'],
    ['npm t'],
    ['npm run test'],
    ['npm run test:unit -- --watch=false', 'npm run test:unit -- --watch=false'],
    ['npm --prefix web run e2e', 'npm --prefix web run e2e'],
    ['npm run -s test'],
    ['pnpm test'],
    ['pnpm -r test'],
    ['pnpm --filter @app/web test:unit'],
    ['pnpm vitest run src'],
    ['pnpm exec jest'],
    ['yarn test'],
    ['yarn workspace web test'],
    ['yarn jest --ci'],
    ['bun test'],
    ['bun run test'],
    ['npx vitest run'],
    ['npx -y jest src/a.test.ts'],
    ['npx playwright test --project=chromium'],
    ['npx mocha'],
    ['npx ava'],
    ['npx cypress run'],
    ['./node_modules/.bin/vitest run'],
    ['node --test'],
    ['node --test --test-reporter=spec test/'],
    ['node test/parser.test.js'],
    ['tsx --test src/*.test.ts'],
    ['deno test -A'],
    ['deno task test'],
    ['pytest'],
    ['pytest -q tests/test_a.py::test_x'],
    ['python -m pytest -x'],
    ['python3 -m unittest discover'],
    ['python manage.py test'],
    ['python test_parser.py'],
    ['poetry run pytest'],
    ['uv run --group dev pytest -q'],
    ['hatch run test'],
    ['tox -e py312'],
    ['nox -s tests'],
    ['go test ./...'],
    ['go test -run TestX -v ./pkg/...'],
    ['cargo test'],
    ['cargo +nightly test --workspace'],
    ['cargo nextest run'],
    ['make test'],
    ['make -C build -j4 check'],
    ['make test-unit'],
    ['ctest --output-on-failure'],
    ['cmake --build build --target test'],
    ['ninja test'],
    ['meson test -C build'],
    ['mvn -q test'],
    ['./mvnw verify'],
    ['./gradlew :app:testDebugUnitTest'],
    ['gradle check'],
    ['dotnet test'],
    ['bundle exec rspec spec/a_spec.rb'],
    ['rake test'],
    ['bin/rails test test/models'],
    ['vendor/bin/phpunit'],
    ['./vendor/bin/pest'],
    ['php artisan test'],
    ['mix test'],
    ['swift test'],
    ['xcodebuild -scheme App test'],
    ['bats test/'],
    ['bazel test //...'],
    ['just test'],
    ['sbt test'],
    ['sbt "testOnly a.B"'],
    ['stack test'],
    ['cabal test all'],
    ['flutter test'],
    ['dart test'],
    ['zig build test'],
    ['./run_tests.sh'],
    ['bash scripts/test.sh'],
  ])('%s', (command, recorded = command) => {
    expect(detectTestRun(command, '', false)).toEqual({ command: recorded, passed: true })
  })
})

describe('the commands around a test run are left out', () => {
  test.each([
    ['cd packages/a && npm test', 'npm test'],
    ['cd "/tmp/a b" && npx vitest run 2>&1', 'npx vitest run'],
    ['CI=1 NODE_ENV=test npm test', 'CI=1 NODE_ENV=test npm test'],
    ['env CI=1 npm test', 'CI=1 npm test'],
    ['timeout 60 npm test', 'npm test'],
    ['timeout -k 5 2m go test ./...', 'go test ./...'],
    ['time npm test', 'npm test'],
    ['sudo -u ci make check', 'sudo -u ci make check'],
    ['nice -n 10 pytest', 'pytest'],
    ['xvfb-run -a npx playwright test', 'xvfb-run -a npx playwright test'],
    ['source .venv/bin/activate && pytest -q', 'pytest -q'],
    ["bash -c 'cd web && npm test'", 'npm test'],
    ['stint digest -- npm test', 'npm test'],
    [
      'CI=1 npx stint digest --label "all of it" --tokens 200 -- npx vitest run',
      'CI=1 npx vitest run',
    ],
    ["stint digest --json -- sh -c 'npm test 2>&1'", 'npm test'],
    ['sh -lc "npm test > out.txt 2>&1"', 'npm test'],
    ['(cd api && go test ./...)', 'go test ./...'],
    ['set -o pipefail; npm test 2>&1 | tee out.log', 'npm test'],
    ['npm test \\\n  -- --run', 'npm test -- --run'],
    ['docker compose exec -T web pytest -q', 'docker compose exec -T web pytest -q'],
    ['npm test && npm run test:e2e', 'npm test && npm run test:e2e'],
    ['# run everything\nnpm test', 'npm test'],
    ["cat > a.txt <<'EOF'\nrm -rf build\nEOF\nnpm test", 'npm test'],
  ])('%s', (command, recorded) => {
    expect(detectTestRun(command, '', false)).toEqual({ command: recorded, passed: true })
  })

  test('a long command is recorded in 160 characters', () => {
    const run = detectTestRun(`npx vitest run ${'src/some/file.test.ts '.repeat(40)}`, '', false)
    expect(run?.command.length).toBeLessThanOrEqual(160)
  })
})

describe('no test run is detected in', () => {
  test.each([
    'git commit -m "npm test"',
    'git commit -m "fix; npm test passes"',
    'echo npm test',
    'echo "run && npm test"',
    'cat test.txt',
    'grep -rn test src',
    'grep -rn "npm test" docs | head',
    'npm install',
    'npm install --save-dev vitest',
    'npm run build',
    'npm run build:test',
    'npm run lint',
    'ls test/',
    'rm -rf test',
    'test -f package.json && echo yes',
    '[ -d test ] && ls',
    'vim test.sh',
    'chmod +x test.sh',
    'which pytest',
    'pip install pytest',
    'pytest --version',
    'npx vitest --help',
    'cargo test --no-run',
    'go test -c ./pkg',
    'go build ./...',
    'cargo build',
    'python manage.py migrate',
    'npx playwright install',
    'npx cypress open',
    'make',
    'make build',
    "cat <<'EOF' > run.sh\nnpm test\nEOF",
    '# npm test',
    '# build, then; npm test\nls',
    'sed -n 1,20p src/a.test.ts',
    'node build.js',
    'docker build -t test .',
    'gh run view --log-failed | grep test',
    'mkdir -p test/unit',
    'curl https://example.org/test',
    '',
    "'unclosed npm test",
    '&& || ;; | npm',
  ])('%s', (command) => {
    expect(detectTestRun(command, '1 failed, 2 passed in 0.1s', false)).toBeUndefined()
    expect(detectTestRun(command, 'Exit code 1', true)).toBeUndefined()
  })
})

const ESC = '\u001B'

describe('the summary of', () => {
  const failing: readonly (readonly [
    name: string,
    command: string,
    output: string,
    summary: string,
  ])[] = [
    [
      'vitest',
      'npx vitest run',
      `${ESC}[31m FAIL ${ESC}[39m src/a.test.ts > sum > adds\nAssertionError: expected 3 to be 4\n\n Test Files  ${ESC}[1m${ESC}[31m1 failed${ESC}[39m${ESC}[22m | 3 passed (4)\n      Tests  2 failed | 10 passed (12)\n   Start at  10:00:00\n   Duration  1.20s`,
      'Test Files 1 failed | 3 passed (4), Tests 2 failed | 10 passed (12): src/a.test.ts > sum > adds',
    ],
    [
      'vitest with an error outside of a test',
      'vitest run',
      ' Test Files  4 passed (4)\n      Tests  12 passed (12)\n     Errors  1 error\n',
      'Test Files 4 passed (4), Tests 12 passed (12), Errors 1 error',
    ],
    [
      'jest',
      'npx jest',
      'FAIL src/a.test.js\n  ● sum › adds two\n\n    expect(received).toBe(expected)\n\nTest Suites: 1 failed, 3 passed, 4 total\nTests:       1 failed, 2 skipped, 10 passed, 13 total\nSnapshots:   0 total',
      'Test Suites: 1 failed, 3 passed, 4 total, Tests: 1 failed, 2 skipped, 10 passed, 13 total: sum › adds two',
    ],
    [
      'mocha',
      'npx mocha',
      '  12 passing (34ms)\n  1 failing\n\n  1) sum\n       adds two:\n     AssertionError: 3 == 4\n',
      '12 passing (34ms), 1 failing: sum',
    ],
    [
      'pytest',
      'pytest',
      '=================== FAILURES ===================\n___ test_x ___\nE  assert 1 == 2\n=========== short test summary info ===========\nFAILED tests/test_a.py::test_x - assert 1 == 2\n========= 1 failed, 10 passed, 2 warnings in 1.23s =========',
      '1 failed, 10 passed, 2 warnings in 1.23s: tests/test_a.py::test_x',
    ],
    ['pytest, quiet', 'pytest -q', '1 failed, 3 passed in 0.12s', '1 failed, 3 passed in 0.12s'],
    [
      'pytest that collects nothing',
      'pytest -k nothing | tail -1',
      '12 deselected in 0.05s',
      '12 deselected in 0.05s',
    ],
    [
      'unittest',
      'python -m unittest',
      '======\nFAIL: test_x (tests.A.test_x)\n------\nTraceback\n\nRan 5 tests in 0.001s\n\nFAILED (failures=1, errors=1)',
      'Ran 5 tests in 0.001s: FAILED (failures=1, errors=1): test_x',
    ],
    [
      'go test',
      'go test ./...',
      'ok  \tex/a\t0.012s\n--- FAIL: TestSum (0.00s)\n    sum_test.go:9: got 3\nFAIL\nFAIL\tex/b\t0.003s\n?   \tex/c\t[no test files]\nFAIL',
      'FAIL ex/b: TestSum',
    ],
    [
      'a Go package that does not build',
      'go test ./...',
      'FAIL\tex/b [build failed]\nok  \tex/a\t(cached)\nFAIL',
      'FAIL ex/b',
    ],
    [
      'cargo test',
      'cargo test',
      'test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out\ntest tests::adds ... FAILED\n\nfailures:\n\ntest result: FAILED. 3 passed; 1 failed; 0 ignored; 0 measured\n\nerror: test failed, to rerun pass `--lib`',
      '15 passed; 1 failed; 1 ignored: tests::adds',
    ],
    [
      'code that cargo cannot compile',
      'cargo test',
      'error[E0308]: mismatched types\nerror: could not compile `ex` (lib test) due to 1 previous error',
      'error: could not compile `ex` (lib test) due to 1 previous error',
    ],
    [
      'nextest',
      'cargo nextest run',
      '        FAIL [   0.004s] ex tests::adds\n     Summary [   0.010s] 10 tests run: 9 passed, 1 failed, 0 skipped',
      'Summary [ 0.010s] 10 tests run: 9 passed, 1 failed, 0 skipped: ex tests::adds',
    ],
    [
      'node --test',
      'node --test',
      '✖ adds (1.2ms)\nℹ tests 5\nℹ suites 0\nℹ pass 4\nℹ fail 1\nℹ cancelled 0',
      'tests 5, pass 4, fail 1: adds',
    ],
    [
      'TAP',
      'npx tap',
      'TAP version 13\nok 1 - a\nnot ok 2 - adds two\nok 3 - c # SKIP\n1..3',
      '2 ok, 1 not ok: adds two',
    ],
    [
      'rspec',
      'bundle exec rspec',
      'Finished in 0.1 seconds\n10 examples, 1 failure, 1 pending\n\nFailed examples:\n\nrspec ./spec/a_spec.rb:12 # Sum adds two',
      '10 examples, 1 failure, 1 pending: ./spec/a_spec.rb:12 # Sum adds two',
    ],
    [
      'minitest',
      'rake test',
      '10 runs, 20 assertions, 1 failures, 0 errors, 0 skips',
      '10 runs, 20 assertions, 1 failures, 0 errors, 0 skips',
    ],
    [
      'phpunit',
      'vendor/bin/phpunit',
      'There was 1 failure:\n\n1) App\\SumTest::testAdds\nFailed asserting that 3 matches 4.\n\nFAILURES!\nTests: 10, Assertions: 20, Failures: 1.',
      'Tests: 10, Assertions: 20, Failures: 1.: App\\SumTest::testAdds',
    ],
    [
      'pest',
      './vendor/bin/pest',
      '  Tests:    1 failed, 10 passed (20 assertions)',
      'Tests: 1 failed, 10 passed (20 assertions)',
    ],
    [
      'dotnet test',
      'dotnet test',
      '  Failed Ex.SumTests.Adds [12 ms]\nFailed!  - Failed:     1, Passed:     9, Skipped:     0, Total:    10, Duration: 80 ms - Ex.dll (net8.0)',
      'Failed: 1, Passed: 9, Skipped: 0: Ex.SumTests.Adds',
    ],
    [
      'Maven',
      'mvn test',
      '[ERROR] Tests run: 3, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.1 s <<< FAILURE!\n[ERROR]   SumTest.adds:12 expected: <4> but was: <3>\n[ERROR] Tests run: 10, Failures: 1, Errors: 0, Skipped: 0\n[INFO] BUILD FAILURE',
      '[ERROR] Tests run: 10, Failures: 1, Errors: 0, Skipped: 0: SumTest.adds',
    ],
    [
      'Gradle',
      './gradlew test',
      'SumTest > adds() FAILED\n    org.opentest4j.AssertionFailedError\n10 tests completed, 1 failed\n\nBUILD FAILED in 3s',
      '10 tests completed, 1 failed: SumTest > adds',
    ],
    [
      'ctest',
      'ctest',
      '90% tests passed, 1 tests failed out of 10\n\nThe following tests FAILED:\n\t  3 - sum_adds (Failed)',
      '90% tests passed, 1 tests failed out of 10: sum_adds',
    ],
    [
      'ExUnit',
      'mix test',
      '  1) test adds two (SumTest)\n     test/sum_test.exs:4\n\n5 doctests, 10 tests, 1 failure',
      '5 doctests, 10 tests, 1 failure: adds two (SumTest)',
    ],
    [
      'bats',
      'bats test',
      ' ✓ a\n ✗ adds two\n   (in test file t.bats, line 4)\n\n2 tests, 1 failure',
      '2 tests, 1 failure: adds two',
    ],
    [
      'XCTest',
      'swift test',
      "Test Case 'SumTests.testAdds' failed (0.002 seconds)\nExecuted 10 tests, with 1 failure (0 unexpected) in 0.1 (0.2) seconds",
      'Executed 10 tests, with 1 failure (0 unexpected) in 0.1 (0.2) seconds: SumTests.testAdds',
    ],
    [
      'deno',
      'deno test',
      'adds ... FAILED (2ms)\n\nFAILED | 9 passed | 1 failed (12ms)',
      'FAILED | 9 passed | 1 failed (12ms): adds',
    ],
    [
      'bun',
      'bun test',
      '(fail) sum > adds [1.00ms]\n\n 10 pass\n 1 fail\n 20 expect() calls\nRan 11 tests across 2 files. [12.00ms]',
      '10 pass, 1 fail: sum > adds',
    ],
    [
      'Playwright',
      'npx playwright test',
      '  1) [chromium] › a.spec.ts:3:1 › adds ───────\n\n    Error: no\n\n  1 failed\n    [chromium] › a.spec.ts:3:1 › adds ───────\n  10 passed (3.2s)',
      '1 failed, 10 passed (3.2s): [chromium] › a.spec.ts:3:1 › adds',
    ],
    ['AVA', 'npx ava', '  ✘ [fail]: adds\n\n  1 test failed\n', '1 test failed: adds'],
    [
      'ScalaTest',
      'sbt test',
      '[info] Tests: succeeded 10, failed 1, canceled 0, ignored 0, pending 0',
      '[info] Tests: succeeded 10, failed 1, canceled 0, ignored 0, pending 0',
    ],
    [
      'Bazel',
      'bazel test //...',
      '//a:b_test                FAILED in 1 out of 1 in 0.3s\n\nExecuted 3 out of 3 tests: 2 tests pass and 1 fails locally.',
      'Executed 3 out of 3 tests: 2 tests pass and 1 fails locally.: //a:b_test',
    ],
    ['tasty', 'cabal test', '1 out of 10 tests failed (0.01s)', '1 out of 10 tests failed (0.01s)'],
    [
      'Flutter',
      'flutter test',
      '00:02 +10 -1: adds [E]\n00:03 +10 -1: Some tests failed.',
      '00:03 +10 -1: Some tests failed.: adds',
    ],
    [
      'Zig',
      'zig build test',
      '9 passed; 1 failed.\nerror: the following test command failed',
      '9 passed; 1 failed.',
    ],
    [
      'tox',
      'tox',
      '  py312: FAIL code 1 (1.0 seconds)\n  evaluation failed :( (1.1 seconds)',
      'evaluation failed :( (1.1 seconds)',
    ],
    [
      'Automake',
      'make check',
      '# TOTAL: 10\n# PASS:  9\n# FAIL:  1\n# ERROR: 0',
      'TOTAL: 10, FAIL: 1, ERROR: 0',
    ],
    ['prove', 'prove -r t', 't/a.t .. Failed\nResult: FAIL', 'Result: FAIL'],
    [
      'busted',
      'busted',
      '9 successes / 1 failure / 0 errors / 0 pending : 0.1 seconds',
      '9 successes / 1 failure / 0 errors / 0 pending : 0.1 seconds',
    ],
  ]

  test.each(failing)(
    '%s shows that tests failed even if the exit status does not',
    (_, command, output, summary) => {
      const piped = detectTestRun(`${command} 2>&1 | tail -20`, output, false)
      expect(piped).toMatchObject({ passed: false, summary })
      expect(detectTestRun(`${command} || true`, output, false)?.passed).toBe(false)
      expect(detectTestRun(command, `Exit code 1\n${output}`, true)).toMatchObject({
        passed: false,
        summary,
      })
    },
  )

  test.each([
    [
      'vitest',
      'npx vitest run',
      ' Test Files  4 passed (4)\n      Tests  12 passed (12)\n',
      'Test Files 4 passed (4), Tests 12 passed (12)',
    ],
    [
      'jest',
      'npx jest',
      'Test Suites: 4 passed, 4 total\nTests:       10 passed, 10 total',
      'Test Suites: 4 passed, 4 total, Tests: 10 passed, 10 total',
    ],
    ['mocha', 'npx mocha', '  12 passing (34ms)\n  2 pending', '12 passing (34ms)'],
    [
      'pytest',
      'pytest',
      '======= 10 passed, 1 skipped in 0.12s =======',
      '10 passed, 1 skipped in 0.12s',
    ],
    [
      'unittest',
      'python -m unittest',
      '.....\n------\nRan 5 tests in 0.001s\n\nOK',
      'Ran 5 tests in 0.001s: OK',
    ],
    ['go test', 'go test ./...', 'ok  \tex/a\t0.012s\nok  \tex/b\t(cached)', 'ok, 2 packages'],
    [
      'cargo test',
      'cargo test',
      'test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured\n\ntest result: ok. 0 passed; 0 failed; 0 ignored',
      '12 passed; 0 failed; 0 ignored',
    ],
    ['node --test', 'node --test', '# tests 5\n# pass 5\n# fail 0', 'tests 5, pass 5, fail 0'],
    ['rspec', 'rspec', '10 examples, 0 failures', '10 examples, 0 failures'],
    ['phpunit', 'phpunit', 'OK (10 tests, 20 assertions)', 'OK (10 tests, 20 assertions)'],
    [
      'dotnet test',
      'dotnet test',
      'Passed!  - Failed:     0, Passed:    10, Skipped:     0, Total:    10',
      'Failed: 0, Passed: 10, Skipped: 0',
    ],
    [
      'Maven',
      'mvn test',
      '[INFO] Tests run: 10, Failures: 0, Errors: 0, Skipped: 0\n[INFO] BUILD SUCCESS',
      '[INFO] Tests run: 10, Failures: 0, Errors: 0, Skipped: 0',
    ],
    ['Gradle', 'gradle test', 'BUILD SUCCESSFUL in 3s', 'BUILD SUCCESSFUL in 3s'],
    [
      'ctest',
      'ctest',
      '100% tests passed, 0 tests failed out of 10',
      '100% tests passed, 0 tests failed out of 10',
    ],
    ['deno', 'deno test', 'ok | 10 passed | 0 failed (12ms)', 'ok | 10 passed | 0 failed (12ms)'],
    ['bun', 'bun test', ' 10 pass\n 0 fail\nRan 10 tests across 2 files.', '10 pass, 0 fail'],
    ['Flutter', 'flutter test', '00:02 +10: All tests passed!', '00:02 +10: All tests passed!'],
    [
      'Swift Testing',
      'swift test',
      '✔ Test run with 10 tests passed after 0.1 seconds.',
      'Test run with 10 tests passed after 0.1 seconds.',
    ],
  ])('%s shows that tests passed, even behind a pipe', (_, command, output, summary) => {
    expect(detectTestRun(`${command} | tail -20`, output, false)).toEqual({
      command,
      passed: true,
      summary,
    })
  })

  test('a failure names at most three tests, in limited length', () => {
    const names = Array.from(
      { length: 9 },
      (_, index) => `FAILED tests/test_a.py::test_${index} - ${'x'.repeat(300)}`,
    )
    const run = detectTestRun('pytest', [...names, '9 failed in 1.00s'].join('\n'), true)
    expect(run?.summary).toBe(
      '9 failed in 1.00s: tests/test_a.py::test_0; tests/test_a.py::test_1; tests/test_a.py::test_2',
    )
  })
})

describe('the result of a test run', () => {
  test('comes from the exit status if nothing else shows it', () => {
    expect(detectTestRun('npm test', 'all good', false)).toEqual({
      command: 'npm test',
      passed: true,
    })
    expect(
      detectTestRun('npm test', 'Exit code 1\nnpm error Missing script: "test"', true),
    ).toEqual({
      command: 'npm test',
      passed: false,
      summary: 'npm error Missing script: "test"',
    })
    expect(detectTestRun('npm test; exit 1', 'Exit code 1\nsomething', true)).toMatchObject({
      passed: false,
      summary: 'something',
    })
  })

  test('does not come from the exit status of a filter or of another command', () => {
    expect(detectTestRun('npm test | tail -3', 'all good', false)).toBeUndefined()
    expect(detectTestRun('npm test | grep FAIL', 'Exit code 1', true)).toBeUndefined()
    expect(detectTestRun('npm test || true', 'all good', false)).toBeUndefined()
    expect(detectTestRun('npm test; ls', 'all good', false)).toBeUndefined()
    expect(detectTestRun('npm test &', '', false)).toBeUndefined()
    expect(
      detectTestRun('npm run build && npm test', 'Exit code 2\nsrc/a.ts(1,1): error TS1005', true),
    ).toBeUndefined()
    expect(detectTestRun('npm test && npm run lint', 'Exit code 1', true)).toBeUndefined()
    expect(detectTestRun('if npm test; then echo good; fi', '', false)).toBeUndefined()
    expect(detectTestRun('! npm test', '', false)).toBeUndefined()
  })

  test('comes from the exit status if the filter cannot have failed', () => {
    expect(detectTestRun('npm test 2>&1 | tail -3', 'Exit code 1\nall bad', true)).toMatchObject({
      passed: false,
    })
    expect(detectTestRun('set -o pipefail; npm test | tee log', 'fine', false)).toMatchObject({
      passed: true,
    })
    expect(detectTestRun('cd a && npm test && echo fine', 'fine', false)).toMatchObject({
      passed: true,
    })
  })

  test('comes from an exit status that the command prints', () => {
    expect(
      detectTestRun('npm test > /dev/null 2>&1; echo "exit: $?"', 'exit: 0', false),
    ).toMatchObject({ passed: true })
    expect(detectTestRun('npm test > /dev/null 2>&1; echo $?', '1', false)).toMatchObject({
      passed: false,
    })
    expect(detectTestRun('npm test | tail -1; echo ${PIPESTATUS[0]}', 'x\n2', false)).toMatchObject(
      {
        passed: false,
      },
    )
    expect(detectTestRun('npm test | tail -1; echo $?', 'x\n0', false)).toBeUndefined()
  })

  test('comes from the message of the starter when a filter hides the status', () => {
    const output = 'running\nmake: *** [Makefile:12: test] Error 2'
    expect(detectTestRun('make test 2>&1 | tail -5', output, false)).toEqual({
      command: 'make test',
      passed: false,
      summary: 'make: *** [Makefile:12: test] Error 2',
    })
  })

  test('is a failure when the runner fails despite a good summary', () => {
    const output =
      'Exit code 1\nTests:       10 passed, 10 total\nJest: "global" coverage threshold for lines (80%) not met: 70%'
    expect(detectTestRun('npx jest --coverage', output, true)?.passed).toBe(false)
  })

  test('is a success when only a later command fails', () => {
    const output = 'Exit code 2\n      Tests  12 passed (12)\nsrc/a.ts(1,1): error TS1005'
    expect(detectTestRun('npx vitest run && npx tsc --noEmit', output, true)).toMatchObject({
      command: 'npx vitest run',
      passed: true,
    })
  })
})

describe('any output', () => {
  test.each([
    ['nothing', ''],
    ['binary', '\u0000\u0001\u0002\uFFFD'.repeat(5000)],
    ['one very long line', 'x'.repeat(3_000_000)],
    ['many blank lines', '\n'.repeat(100_000)],
    ['deep nesting', '(('.repeat(50_000)],
    ['half an escape sequence', '\u001B[31'],
    ['half a character', '\uD83D'],
  ])('is parsed without an error: %s', (_, output) => {
    for (const isError of [true, false]) {
      const run = detectTestRun('npm test', output, isError)
      expect(run?.passed).toBe(!isError)
      expect(run?.summary?.length ?? 0).toBeLessThanOrEqual(320)
    }
  })

  test('has its summary found at the end, however long it is', () => {
    const output = `${'some line of a log\n'.repeat(20_000)} Test Files  1 failed (1)\n      Tests  1 failed (1)\n`
    expect(detectTestRun('npx vitest run | cat', output, false)).toMatchObject({ passed: false })
  })

  test.each([
    '$(',
    '"',
    "'",
    '`',
    '<<',
    '<<EOF',
    '((',
    '>',
    '2>',
    '&>',
    '|',
    '\\',
    '#',
    'bash -c',
    'bash -c \'bash -c "npm test',
    'timeout',
    'env',
    'npx',
    'a=b',
    '\0npm test',
  ])('is parsed without an error for a meaningless command: %s', (command) => {
    expect(() => detectTestRun(`${command} test`, '', false)).not.toThrow()
    expect(() => detectTestRun(`npm test ${command}`, '', false)).not.toThrow()
  })
})
