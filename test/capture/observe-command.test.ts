import * as fc from 'fast-check'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { FailedCommand } from '../../src/command/failed-command.ts'
import { observeCommand } from '../../src/command/observe-command.ts'

const cwd = '/home/me/shop'
const recorded = (name: string) =>
  readFileSync(join(import.meta.dirname, 'recorded-output', `${name}.txt`), 'utf8')
const written = (name: string) =>
  readFileSync(join(import.meta.dirname, '../command/written', `${name}.txt`), 'utf8')
const observe = (
  command: string,
  output = '',
  { isError = false, failed = [] as readonly FailedCommand[] } = {},
) => observeCommand({ command, output, isError, cwd }, failed)
const failing = (command: string, output = '') => observe(command, output, { isError: true })

describe('a failed test has its name, its assertion and its place in the output of', () => {
  const places = (command: string, output: string) =>
    failing(command, output).failing.map(({ name, detail, at }) => [name, detail, at])

  test.each([
    ['tap', 'TypeError: boom'],
    ['spec', 'TypeError: boom'],
  ])('node --test with the %s reporter', (reporter) => {
    const [first, deep, matches, throws, ...others] = places(
      'node --test',
      recorded(`node-${reporter}`),
    )
    expect(first).toEqual(['adds up', 'expected 3, got 2', 'some.test.mjs:3'])
    expect(deep).toEqual(['deep', expect.stringMatching(/a: 2.*, got .*a: 1/), 'some.test.mjs:4'])
    expect(matches?.[1]).toContain('did not match the regular expression /x/')
    expect(throws?.[1]).toContain('boom')
    expect(others).toEqual([])
  })

  test('node --test that is cut off', () => {
    const { failing: found } = observe('node --test | head -30', recorded('node-spec-head'))
    expect(found[0]).toEqual({ name: 'adds up', detail: 'expected 3, got 2' })
  })

  test('vitest', () => {
    expect(places('npx vitest run', recorded('vitest'))).toEqual([
      ['some.test.ts > adds', 'expected 3, got 2', 'some.test.ts:2'],
      ['some.test.ts > object', 'expected { a: 2 }, got { a: 1 }', 'some.test.ts:5'],
      ['some.test.ts > throws', 'expected [Function] to throw an error', 'some.test.ts:6'],
      ['some.test.ts > length', 'expected 2, got 1', 'some.test.ts:7'],
    ])
  })

  test('pytest', () => {
    expect(places('pytest -q', recorded('pytest-q'))).toEqual([
      ['test_py.py::test_sum', 'assert 3 == 4', 'test_py.py:3'],
      ['test_py.py::test_name', "assert 'abc' == 'abd'", 'test_py.py:5'],
    ])
    expect(places('pytest -q --tb=no', recorded('pytest-short'))).toEqual([
      ['test_py.py::test_sum', 'assert 3 == 4', undefined],
      ['test_py.py::test_name', "assert 'abc' == 'abd'", undefined],
    ])
  })

  test('cargo test in another folder', () => {
    expect(places('cd cr && cargo test', recorded('cargo-test'))).toEqual([
      ['tests::adds', 'left 2, right 3', 'cr/src/lib.rs:4'],
    ])
  })

  test.each([
    [
      'npx jest',
      'jest-failed',
      'sum › adds negative numbers',
      'expected -3, got -2',
      'src/sum.test.js:5',
    ],
    [
      'npx mocha',
      'mocha-failed',
      'Array > #indexOf() > returns -1 when there is none',
      'expected -1, got 0',
      'test/array.js:9',
    ],
    [
      'go test ./...',
      'go-test-failed',
      'TestTotal',
      'total([1 2]) = 3, want 4',
      'prices_test.go:12',
    ],
    [
      'go test -v ./...',
      'go-test-verbose-failed',
      'TestTotal',
      'total([1 2]) = 3, want 4',
      'prices_test.go:12',
    ],
    [
      'vendor/bin/phpunit',
      'phpunit-failed',
      'Tests\\PriceTest::testTotal',
      'Failed asserting that 3 matches expected 4.',
      'tests/PriceTest.php:14',
    ],
    [
      'bundle exec rspec',
      'rspec-failed',
      'Price#total adds the items',
      'expected 4, got 3',
      'spec/price_spec.rb:5',
    ],
    [
      'gradle test',
      'gradle-failed',
      'PriceTest > addsItems',
      'expected 4, got 3',
      'PriceTest.java:14',
    ],
  ])('%s', (command, output, ...first) => {
    expect(places(command, written(output))[0]).toEqual(first)
  })

  test('a script that only asserts', () => {
    expect(places('node plain.test.mjs', recorded('node-assert'))).toEqual([
      ['plain.test.mjs', 'expected 3, got 2', 'plain.test.mjs:2'],
    ])
    expect(places('python3 test_plain.py', recorded('python-assert'))).toEqual([
      ['test_plain.py', 'total is off by one', 'test_plain.py:5'],
    ])
  })
})

describe('an error has its file and line in the output of', () => {
  test.each([
    [
      'node --check src/broken.mjs',
      'node-check',
      "src/broken.mjs:2 SyntaxError: Unexpected token ','",
    ],
    ['python3 src/broken.py', 'python-syntax', 'src/broken.py:1 SyntaxError: invalid syntax'],
    [
      'python3 src/read.py',
      'python-traceback',
      "src/read.py:3 FileNotFoundError: [Errno 2] No such file or directory: 'nowhere.json'",
    ],
    ['./checker', 'c-assert', "t.c:2 Assertion `n == 4' failed"],
    ['sh deploy.sh', 'dash-unset', 'deploy.sh:3 REGION: parameter not set'],
    ['bash deploy.sh', 'bash-unset', 'deploy.sh:3 REGION: unbound variable'],
    ['gcc -c src/a.c', 'gcc', 'src/a.c:1 ‘y’ undeclared (first use in this function)'],
    ['rustc src/a.rs', 'rustc', 'src/a.rs:1 mismatched types'],
    [
      'javac src/A.java',
      'javac',
      'src/A.java:1 incompatible types: String cannot be converted to int',
    ],
    [
      'java B',
      'java-trace',
      'B.java:1 java.lang.ArrayIndexOutOfBoundsException: Index 3 out of bounds for length 0',
    ],
    [
      'npx tsc --noEmit',
      'tsc',
      "src/a.ts:1 TS2322: Type 'string' is not assignable to type 'number'.",
    ],
    [
      'npx oxlint',
      'oxlint',
      "src/lint.js:2 eslint(no-unused-vars): Variable 'x' is assigned a value but never used. Unused variables should start with a '_'.",
    ],
  ])('%s', (command, output, first) => {
    const [error] = failing(command, recorded(output)).errors
    expect(`${error?.at} ${error?.message}`).toBe(first)
  })

  test.each([
    ['npx eslint src', 'eslint-failed', ['src/price.js:3', 'src/text.js:1']],
    ['clang price.c', 'clang-failed', ['price.c:3']],
    [
      'go build ./...',
      'go-build-failed',
      ['prices/prices.go:7', 'prices/prices.go:12', 'cmd/main.go:9'],
    ],
    ['mypy shop', 'mypy-failed', ['shop/price.py:7', 'shop/text.py:3']],
    ['dotnet build', 'msbuild-failed', ['Price.cs:10']],
    ['flake8', 'flake8-failed', ['shop/price.py:1', 'shop/price.py:12']],
  ])('%s', (command, output, places) => {
    expect(failing(command, written(output)).errors.map(({ at }) => at)).toEqual(places)
  })

  test('a trace, in the first frame of the project', () => {
    const output = [
      'node:fs:448',
      '    return binding.readFileUtf8(path, stringToFlags(options.flag));',
      '',
      "Error: ENOENT: no such file or directory, open 'config/a.json'",
      '    at readFileSync (node:fs:448:20)',
      '    at load (/home/me/shop/node_modules/x/index.js:3:1)',
      '    at file:///home/me/shop/src/jobs/nightly.js:7:28',
    ].join('\n')
    expect(failing('node src/jobs/nightly.js', output).errors).toEqual([
      {
        at: 'src/jobs/nightly.js:7',
        message: "Error: ENOENT: no such file or directory, open 'config/a.json'",
      },
    ])
  })

  test('a tool with a format of its own', () => {
    expect(
      failing('node lint.mjs', "src/a.mjs:3 unused import 'b'\nlint: problems").errors,
    ).toEqual([{ at: 'src/a.mjs:3', message: "unused import 'b'" }])
    expect(
      failing('psql -f a.sql', 'psql:db/a.sql:12: ERROR:  syntax error at or near "x"').errors,
    ).toEqual([{ at: 'db/a.sql:12', message: 'ERROR: syntax error at or near "x"' }])
  })

  test('a tool in another folder', () => {
    expect(
      failing('cd web && npx tsc', 'src/a.ts(3,5): error TS2304: Cannot find name.').errors[0]?.at,
    ).toBe('web/src/a.ts:3')
  })

  test('a tool behind a filter', () => {
    const { errors, failed } = observe('npx tsc --noEmit | head -5', recorded('tsc'))
    expect(errors.map(({ at }) => at)).toEqual(['src/a.ts:1'])
    expect(failed?.command).toBe('npx tsc --noEmit')
  })
})

test.each([
  ['cat build.log', 'src/a.c:3:5: error: broken'],
  ['grep -n foo src/a.ts', 'src/a.ts:3: foo()'],
  ['gh issue view 3', 'src/a.c:3:5: error: broken'],
  ['curl -s https://x.example', 'Error: broken\n    at f (src/a.js:3:1)'],
])('%s shows no error of the project', (command, output) => {
  for (const isError of [false, true])
    expect(observeCommand({ command, output, isError, cwd }, []).errors).toEqual([])
})

test('a command that succeeds has no errors, whatever it prints', () => {
  expect(observe('node server.mjs', 'Error: retried\n    at f (src/a.js:3:1)').errors).toEqual([])
})

test('warnings, hosts and times are no errors', () => {
  const output =
    'src/a.ts:3: warning: old\nlocalhost:3000 is taken\nexample.com:443: refused\n12:30:05 done'
  expect(failing('node run.mjs', output).errors).toEqual([])
})

describe('the version is known after', () => {
  test.each([
    ['node -v', 'v20.20.2', 'node 20.20.2'],
    ['python3 --version', 'Python 3.11.7', 'Python 3.11.7'],
    ['gcc --version', 'gcc (Debian 12.2.0-14+deb12u1) 12.2.0\nCopyright (C) 2022', 'gcc 12.2.0'],
    ['java -version', 'openjdk version "17.0.15" 2025-04-15', 'openjdk 17.0.15'],
    ['rustc -V', 'rustc 1.95.0 (59807616e 2026-04-14)', 'rustc 1.95.0'],
    [
      'psql --version',
      'psql (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)',
      'psql (PostgreSQL) 15.18',
    ],
    ['sqlite3 --version', '3.40.1 2022-12-28 14:03:47 df5c253c0b3d', 'sqlite3 3.40.1'],
    ['bash --version', 'GNU bash, version 5.2.15(1)-release', 'bash 5.2.15'],
    ['go version', 'go version go1.22.1 linux/amd64', 'go 1.22.1'],
    ['node -v && npm -v', 'v20.20.2\n11.19.1', 'node 20.20.2; npm 11.19.1'],
    ['node scripts/migrate.mjs --version', 'migrate 2.8.1', 'migrate 2.8.1'],
    [`node -p "require('./vendor/paylane/package.json').version"`, '3.11.0', 'paylane 3.11.0'],
    ["python3 -c 'import numpy; print(numpy.__version__)'", '1.26.4', 'numpy 1.26.4'],
    ['npm ls vitest', 'stint@0.1.0 /x\n└── vitest@4.1.12', 'vitest 4.1.12'],
    ['npm view react version', '18.2.0', 'react 18.2.0'],
    ['npm version minor', 'v1.9.0', 'package version 1.9.0'],
    ['pip show flask', 'Name: Flask\nVersion: 3.0.2\nSummary: web', 'Flask 3.0.2'],
    ['cat vendor/ringhash/VERSION', '0.7.0', 'ringhash 0.7.0'],
    ['cat .nvmrc', '20.11.0', 'node 20.11.0'],
    ['grep postgres .tool-versions', 'postgres 15.6', 'postgres 15.6'],
    ['grep react package.json', '    "react": "^18.2.0",', 'react 18.2.0'],
    ['jq -r .version package.json', '1.2.3', 'package version 1.2.3'],
    [
      'node scripts/about.mjs',
      'shop 1.8.2\nwire protocol v7\nlimits schema 2024-11',
      'shop 1.8.2; wire protocol v7; limits schema 2024-11',
    ],
    ['npm run -s schema', 'ledger schema 7.4.2', 'ledger schema 7.4.2'],
  ])('%s', (command, output, expected) => {
    const found = observe(command, output).versions
    expect(found.map(({ subject, version }) => `${subject} ${version}`).join('; ')).toBe(expected)
  })

  test.each([
    ['cat README.md', 'Install foo 1.2.3'],
    ['node scripts/tool.mjs --help', 'usage: tool\nexample 1.2.3'],
    ['node scripts/run.mjs', 'foo 1.2.3 done\nbar'],
    ['npm install', 'added 3 packages\nfoo 1.2.3'],
    ['grep -v foo a.txt', 'bar 1.2.3'],
    ['cat docs/VERSION.md', '# 1.2.3\nfoo 1.2.3'],
    ['git log -1', 'Release 1.2.3'],
  ])('not %s', (command, output) => {
    expect(observe(command, output).versions).toEqual([])
  })
})

describe('what it takes is known when a command works after', () => {
  const after = (failed: string, output: string, command: string) =>
    observe(command, 'done', { failed: [failing(failed, output).failed!] }).worked

  test.each([
    [
      'a missing variable',
      'node scripts/replay.mjs a.json',
      'SECRET=x node scripts/replay.mjs a.json',
    ],
    [
      'an unknown flag',
      'node scripts/export.mjs --tenant=a',
      'node scripts/export.mjs --account=a',
    ],
    ['a missing flag', 'node scripts/migrate.mjs up', 'node scripts/migrate.mjs up --to 0042'],
    [
      'an unknown value',
      'node scripts/export.mjs --as yaml',
      'node scripts/export.mjs --as ndjson',
    ],
    ['an npm script with a flag', 'npm run bench -- --rate 2', 'npm run bench -- --rps 2'],
    ['a patch', 'git apply a.patch', 'git apply -p2 a.patch'],
    ['a similar argument', './deploy.sh staging-eu', './deploy.sh eu-staging'],
  ])('%s', (_, failed, command) => {
    expect(after(failed, 'refused', command)).toEqual({ command, after: failed })
  })

  test.each([
    ['another script', 'node scripts/a.mjs', 'node scripts/b.mjs --x'],
    ['the same command', 'node scripts/a.mjs', 'node scripts/a.mjs'],
    ['other input', 'node scripts/a.mjs one.json', 'node scripts/a.mjs two.csv'],
    ['another package', 'npm install foo', 'npm install bar'],
    ['force', 'git push', 'git push --force'],
    ['a question', 'node scripts/a.mjs', 'node scripts/a.mjs --help'],
    ['a dry run', 'git apply a.patch', 'git apply --check a.patch'],
    ['code', "node -e 'a()'", "node -e 'b()'"],
    ['a hidden result', 'node scripts/a.mjs', 'node scripts/a.mjs --x || true'],
  ])('not %s', (_, failed, command) => {
    const earlier = failing(failed, 'refused').failed ?? { command: failed }
    expect(observe(command, 'done', { failed: [earlier] }).worked).toBeUndefined()
  })

  test('other input works after a crash: that is no fix', () => {
    const crash = 'RangeError: bad\n    at f (/home/me/shop/src/a.js:9:1)'
    const command = 'node scripts/export.mjs --account=acme'
    expect(after('node scripts/export.mjs --account=globex', crash, command)).toBeUndefined()
    expect(after('node a.mjs', crash, 'LIST=x node a.mjs')).toBeDefined()
  })

  test('a failed test is no failed command', () => {
    expect(failing('node --test', recorded('node-tap')).failed).toBeUndefined()
  })

  test('the printed exit status counts', () => {
    expect(observe('node a.mjs; echo "exit $?"', 'refused\nexit 2').failed?.command).toBe(
      'node a.mjs',
    )
    expect(observe('node a.mjs; echo "exit $?"', 'fine\nexit 0').succeeded).toEqual(['node a.mjs'])
  })
})

test('every list and text is bounded, whatever was run and printed', () => {
  const word = fc.constantFrom(
    'npm',
    'test',
    'sed',
    '-i',
    '>',
    'a.txt',
    '&&',
    '|',
    '(',
    ')',
    "'",
    '"',
    '$(',
    '<<EOF',
    '\n',
    'git',
    'commit',
    '-m',
    'x'.repeat(300),
    'cd',
    '--version',
  )
  const line = fc.constantFrom(
    'not ok 1 - a',
    '✖ b (1ms)',
    `src/${'a'.repeat(300)}.ts:3: error: b`,
    'a.ts:1: b',
    '  at f (a.js:1:1)',
    'Error: x',
    'x 1.2.3',
    '+ a',
    '- b',
    'y'.repeat(500),
    '  ● a › b',
    'FAILED a.py::b - c',
  )
  fc.assert(
    fc.property(
      fc.array(word),
      fc.array(line, { maxLength: 60 }),
      fc.boolean(),
      (words, lines, isError) => {
        const seen = observeCommand(
          { command: words.join(' '), output: lines.join('\n'), isError, cwd },
          [],
        )
        expect(seen.errors.length).toBeLessThanOrEqual(6)
        expect(seen.versions.length).toBeLessThanOrEqual(8)
        expect(seen.failing.length).toBeLessThanOrEqual(10)
        for (const { message } of seen.errors) expect(message.length).toBeLessThanOrEqual(200)
        for (const { name, detail = '' } of seen.failing) {
          expect(name.length).toBeLessThanOrEqual(160)
          expect(detail.length).toBeLessThanOrEqual(240)
        }
      },
    ),
  )
})
