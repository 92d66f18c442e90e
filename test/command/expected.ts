/** The digest of each output, without the first line and the pointer. */
export const EXPECTED: Readonly<
  Record<string, { readonly exit: number; readonly lines: readonly string[] }>
> = {
  'recorded/cargo-build-failed.txt': {
    exit: 1,
    lines: [
      'error: could not compile `shop` (lib) due to 3 previous errors',
      'error src/lib.rs:4:9: cannot find value `nothing` in this scope',
      'error src/lib.rs:3:35: a value of type `String` cannot be made by summing an iterator over elements of type `&u32`',
      'error src/lib.rs:4:5: mismatched types',
    ],
  },
  'recorded/cargo-test-failed.txt': {
    exit: 1,
    lines: [
      '1 passed; 2 failed; 0 ignored',
      'warning: `shop` (lib test) generated 1 warning (1 duplicate)',
      'Finished `test` profile [unoptimized + debuginfo] target(s) in 0.86s',
      'error: test failed, to rerun pass `--lib`',
      'FAIL tests::panics (src/lib.rs:20:14)',
      '  called `Option::unwrap()` on a `None` value',
      'FAIL tests::counts_wrong (src/lib.rs:15:9)',
      '  assertion `left == right` failed: prices do not add up',
      '  left: 3',
      '  right: 4',
      'warning src/lib.rs:2:9: unused variable: `unused`',
    ],
  },
  'recorded/gcc-link.txt': {
    exit: 1,
    lines: [
      "error link.c:(.text+0x5): undefined reference to `missing'",
      'error collect2: error: ld returned 1 exit status',
    ],
  },
  'recorded/javac-failed.txt': {
    exit: 1,
    lines: [
      '2 errors',
      'error A.java:2: incompatible types: String cannot be converted to int',
      'error A.java:3: cannot find symbol',
      '  symbol: variable door',
      '  location: class A',
    ],
  },
  'recorded/make-gcc-failed.txt': {
    exit: 1,
    lines: [
      'error a.c:2:52: ‘c’ undeclared (first use in this function)',
      'error a.c:5:18: too few arguments to function ‘add’',
      'error a.c:6:11: expected ‘;’ before ‘}’ token',
      'error make: *** [Makefile:5: a.o] Error 1',
      'warning a.c:2:29: unused variable ‘unused’ [-Wunused-variable]',
      'warning a.c:4:13: initialization of ‘char *’ from ‘int’ makes pointer from integer without a cast [-Wint-conversion]',
      'warning a.c:4:9: unused variable ‘s’ [-Wunused-variable]',
      'warning a.c:2:55: control reaches end of non-void function [-Wreturn-type]',
    ],
  },
  'recorded/node-crash.txt': {
    exit: 1,
    lines: [
      "error crash.mjs:2:22: TypeError: Cannot read properties of undefined (reading 'turn')",
    ],
  },
  'recorded/node-spec-failed.txt': {
    exit: 1,
    lines: [
      'tests 5, pass 1, fail 2',
      'FAIL subtracts (math.test.mjs:5:3)',
      '  AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:',
      '  2 !== 1',
      'FAIL divides (math.test.mjs:6:28)',
      '  RangeError [Error]: division by zero',
    ],
  },
  'recorded/node-tap-failed.txt': {
    exit: 1,
    lines: [
      'tests 5, pass 1, fail 2',
      'FAIL subtracts (math.test.mjs:5:3)',
      '  Expected values to be strictly equal:',
      '  2 !== 1',
      'FAIL divides (math.test.mjs:6:28)',
      '  division by zero',
    ],
  },
  'recorded/npm-install-failed.txt': {
    exit: 1,
    lines: [
      'error code ENOENT',
      "  enoent ENOENT: no such file or directory, open 'nowhere/a.tgz'",
      'warning tarball tarball data for a@file:nowhere/a.tgz (null) seems to be corrupted. Trying again. (×2)',
    ],
  },
  'recorded/npm-script-failed.txt': {
    exit: 1,
    lines: ['> x@1.0.0 build', '> exit 3'],
  },
  'recorded/oxlint.txt': {
    exit: 0,
    lines: [
      'Found 5 warnings and 0 errors.',
      "warning c.js:3:7: eslint(no-unused-vars): Variable 'x' is declared but never used. Unused variables should start with a '_'.",
      "warning c.js:4:12: eslint(no-unused-vars): Variable 'i' is declared but never used. Unused variables should start with a '_'.",
      'warning c.js:2:1: eslint(no-debugger): `debugger` statement is not allowed',
      "warning a.ts:4:7: eslint(no-unused-vars): Variable 'unused' is declared but never used. Unused variables should start with a '_'.",
      "warning b.ts:4:7: eslint(no-unused-vars): Variable 'unused' is declared but never used. Unused variables should start with a '_'.",
      'the end:',
      '    help: Consider removing this declaration.',
      '  Found 5 warnings and 0 errors.',
      '  Finished in 20ms on 3 files with 96 rules using 2 threads.',
    ],
  },
  'recorded/pytest-failed.txt': {
    exit: 1,
    lines: [
      '2 failed, 2 passed, 2 warnings, 1 error in 0.66s',
      'FAIL test_pt.py::test_db (test_pt.py:11)',
      '  RuntimeError: no database',
      'FAIL test_pt.py::test_total (test_pt.py:4)',
      '  assert 3 == 4',
      '  + where 3 = total([1, 2])',
      'FAIL test_pt.py::test_param[2] (test_pt.py:8)',
      '  assert 2 < 2',
      'warning test_pt.py:7: DeprecationWarning: old way',
    ],
  },
  'recorded/pytest-passed.txt': {
    exit: 0,
    lines: ['1 passed, 4 deselected in 0.64s'],
  },
  'recorded/python-traceback.txt': {
    exit: 1,
    lines: [
      'error json.decoder.JSONDecodeError: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)',
    ],
  },
  'recorded/tsc-failed.txt': {
    exit: 1,
    lines: [
      "error a.ts:2:3: TS2322: Type 'number' is not assignable to type 'string'.",
      "error a.ts:4:15: TS2552: Cannot find name 'strin'. Did you mean 'string'?",
      "error a.ts:5:8: TS2322: Type 'string' is not assignable to type 'number'.",
      "error a.ts:6:41: TS2339: Property 'doors' does not exist on type 'Shop'.",
    ],
  },
  'recorded/tsc-pretty.txt': {
    exit: 1,
    lines: [
      'Found 4 errors in the same file, starting at: a.ts:2',
      "error a.ts:2:3: TS2322: Type 'number' is not assignable to type 'string'.",
      "error a.ts:4:15: TS2552: Cannot find name 'strin'. Did you mean 'string'?",
      "error a.ts:5:8: TS2322: Type 'string' is not assignable to type 'number'.",
      "error a.ts:6:41: TS2339: Property 'doors' does not exist on type 'Shop'.",
    ],
  },
  'recorded/unittest-failed.txt': {
    exit: 1,
    lines: [
      'Ran 3 tests in 0.001s: FAILED (failures=1, errors=1)',
      'FAIL test_missing (test_shop.Prices.test_missing) (test_shop.py:6)',
      "  KeyError: 'door'",
      'FAIL test_total (test_shop.Prices.test_total) (test_shop.py:4)',
      '  AssertionError: 3 != 4',
    ],
  },
  'recorded/vitest-coloured.txt': {
    exit: 1,
    lines: [
      'Test Files 3 failed (3), Tests 3 failed | 5 passed | 1 skipped (9)',
      'FAIL broken.test.ts (broken.test.ts:1:1)',
      "  Error: Cannot find module './missing.ts' imported from broken.test.ts",
      'FAIL sum.test.ts > sum > adds negative numbers (sum.test.ts:5:21)',
      '  AssertionError: expected -2 to be -3 // Object.is equality',
      'FAIL sum.test.ts > sum > reads a price (sum.test.ts:9:19)',
      "  AssertionError: expected { amount: 12, currency: 'EUR' } to deeply equal { amount: 10, currency: 'EUR' }",
      'FAIL text.test.ts > waits (text.test.ts:3:50)',
      '  TypeError: the connection was closed',
    ],
  },
  'recorded/vitest-failed.txt': {
    exit: 1,
    lines: [
      'Test Files 3 failed (3), Tests 3 failed | 5 passed | 1 skipped (9)',
      'FAIL broken.test.ts (broken.test.ts:1:1)',
      "  Error: Cannot find module './missing.ts' imported from broken.test.ts",
      'FAIL sum.test.ts > sum > adds negative numbers (sum.test.ts:5:21)',
      '  AssertionError: expected -2 to be -3 // Object.is equality',
      'FAIL sum.test.ts > sum > reads a price (sum.test.ts:9:19)',
      "  AssertionError: expected { amount: 12, currency: 'EUR' } to deeply equal { amount: 10, currency: 'EUR' }",
      'FAIL text.test.ts > waits (text.test.ts:3:50)',
      '  TypeError: the connection was closed',
    ],
  },
  'recorded/vitest-passed.txt': {
    exit: 0,
    lines: ['Test Files 2 passed (2), Tests 7 passed | 1 skipped (8)'],
  },
  'recorded/vitest-verbose-passed.txt': {
    exit: 0,
    lines: ['Test Files 14 passed (14), Tests 271 passed (271)'],
  },
  'written/biome-failed.txt': {
    exit: 1,
    lines: [
      'Checked 2 files in 8ms. No fixes applied.',
      'Found 2 errors.',
      'error ./src/price.js:3:9: lint/suspicious/noDoubleEquals',
      '  Use === instead of ==.',
      'error ./src/text.js format',
      '  Formatter would have printed the following content:',
    ],
  },
  'written/clang-failed.txt': {
    exit: 1,
    lines: [
      '1 warning and 1 error generated.',
      "error price.c:3:10: 'prices.h' file not found",
      "warning price.c:9:7: unused variable 'total' [-Wunused-variable]",
    ],
  },
  'written/deploy-failed.txt': {
    exit: 1,
    lines: [
      'looks like trouble:',
      '  upload of assets/logo.svg refused by the remote end',
      '  the bucket is read-only',
      'the end:',
      '  removing temporary file 57',
      '  removing temporary file 58',
      '  removing temporary file 59',
      '  removing temporary file 60',
      '  removing temporary file 61',
      '  removing temporary file 62',
      '  removing temporary file 63',
      '  removing temporary file 64',
      '  removing temporary file 65',
      '  removing temporary file 66',
      '  removing temporary file 67',
      '  removing temporary file 68',
      '  removing temporary file 69',
      '  removing temporary file 70',
      '  Giving up.',
    ],
  },
  'written/docker-failed.txt': {
    exit: 1,
    lines: [
      'error code EUSAGE',
      '  The `npm ci` command can only install with an existing package-lock.json',
      'error Dockerfile:5: RUN npm ci',
      'error failed to solve: process "/bin/sh -c npm ci" did not complete successfully: exit code: 1',
    ],
  },
  'written/dotnet-failed.txt': {
    exit: 1,
    lines: [
      'Failed: 1, Passed: 2, Skipped: 0',
      'FAIL Shop.Tests.PriceTests.AddsItems (PriceTests.cs:14)',
      '  Assert.Equal() Failure: Values differ',
      '  Expected: 4',
      '  Actual: 3',
    ],
  },
  'written/eslint-failed.txt': {
    exit: 1,
    lines: [
      '✖ 3 problems (2 errors, 1 warning)',
      "error src/price.js:3:7: 'unused' is assigned a value but never used no-unused-vars",
      'error src/text.js:1:1: Parsing error: Unexpected token {',
      'warning src/price.js:10:15: Unexpected console statement no-console',
    ],
  },
  'written/flake8-failed.txt': {
    exit: 1,
    lines: [
      "./shop/price.py:1:1: F401 'os' imported but unused",
      './shop/price.py:12:80: E501 line too long (104 > 79 characters)',
    ],
  },
  'written/go-build-failed.txt': {
    exit: 1,
    lines: [
      'error prices/prices.go:7:9: undefined: sums',
      'error prices/prices.go:12:2: declared and not used: unused',
      'error cmd/main.go:9:14: cannot use "x" (untyped string constant) as int value in argument to run',
    ],
  },
  'written/go-test-failed.txt': {
    exit: 1,
    lines: [
      'FAIL example.com/shop/prices',
      'FAIL TestTotal (prices_test.go:12)',
      '  total([1 2]) = 3, want 4',
      'FAIL TestRead/empty_file (read_test.go:31)',
      '  unexpected error: EOF',
    ],
  },
  'written/go-test-verbose-failed.txt': {
    exit: 1,
    lines: [
      'FAIL example.com/shop/prices',
      'FAIL TestTotal (prices_test.go:12)',
      '  total([1 2]) = 3, want 4',
    ],
  },
  'written/gradle-failed.txt': {
    exit: 1,
    lines: [
      '3 tests completed, 1 failed',
      'BUILD FAILED in 3s',
      'FAIL PriceTest > addsItems (PriceTest.java:14)',
      '  org.opentest4j.AssertionFailedError: expected: <4> but was: <3>',
      'error :test FAILED',
      "error Execution failed for task ':test'.",
      '  There were failing tests. See the report at: build/reports/tests/test/index.html',
    ],
  },
  'written/jest-failed.txt': {
    exit: 1,
    lines: [
      'Test Suites: 2 failed, 1 passed, 3 total, Tests: 1 failed, 4 passed, 5 total',
      'FAIL sum › adds negative numbers (src/sum.test.js:5:25)',
      '  expect(received).toBe(expected) // Object.is equality',
      '  Expected: -3',
      '  Received: -2',
      'FAIL Test suite failed to run (src/broken.test.js:1:1)',
      "  Cannot find module './missing' from 'src/broken.test.js'",
    ],
  },
  'written/maven-failed.txt': {
    exit: 1,
    lines: [
      '[ERROR] Tests run: 3, Failures: 1, Errors: 0, Skipped: 0',
      '[INFO] BUILD FAILURE',
      'FAIL PriceTest.addsItems:14',
      '  expected: <4> but was: <3>',
      'error Failed to execute goal org.apache.maven.plugins:maven-surefire-plugin:3.2.5:test (default-test) on project shop: There are test failures.',
    ],
  },
  'written/mocha-failed.txt': {
    exit: 1,
    lines: [
      '1 passing (12ms), 2 failing',
      'FAIL Array > #indexOf() > returns -1 when there is none (test/array.js:9:14)',
      '  AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:',
      '  0 !== -1',
      '  -0',
      '  +-1',
      'FAIL Prices > "before each" hook for "adds" (test/prices.js:4:11)',
      '  Error: no database',
    ],
  },
  'written/msbuild-failed.txt': {
    exit: 1,
    lines: [
      'Build FAILED.',
      '1 Error(s)',
      'error Price.cs:10:5: CS1002: ; expected',
      "warning Price.cs:12:9: CS0168: The variable 'x' is declared but never used",
    ],
  },
  'written/mypy-failed.txt': {
    exit: 1,
    lines: [
      'Found 2 errors in 2 files (checked 4 source files)',
      'error shop/price.py:7: Incompatible return value type (got "int", expected "str") [return-value]',
      'error shop/text.py:3: Name "wrods" is not defined [name-defined]',
    ],
  },
  'written/npm-conflict-failed.txt': {
    exit: 1,
    lines: [
      'error code ERESOLVE',
      '  ERESOLVE unable to resolve dependency tree',
      '  While resolving: shop@1.0.0',
      '  Found: react@18.2.0',
      '  Could not resolve dependency:',
      '  peer react@"^17.0.0" from old-widget@2.1.0',
    ],
  },
  'written/npm-install-passed.txt': {
    exit: 0,
    lines: [
      'added 214 packages, and audited 215 packages in 6s',
      '2 moderate severity vulnerabilities',
      'warning deprecated inflight@1.0.6: This module is not supported, and leaks memory.',
      'warning deprecated glob@7.2.3: Glob versions prior to v9 are no longer supported',
      'the end:',
      '  To address all issues, run:',
      '    npm audit fix',
      '  Run `npm audit` for details.',
    ],
  },
  'written/phpunit-failed.txt': {
    exit: 1,
    lines: [
      'Tests: 2, Assertions: 2, Failures: 1.',
      'FAIL Tests\\PriceTest::testTotal (tests/PriceTest.php:14)',
      '  Failed asserting that 3 matches expected 4.',
    ],
  },
  'written/rspec-failed.txt': {
    exit: 1,
    lines: [
      '2 examples, 1 failure',
      'FAIL Price#total adds the items (./spec/price_spec.rb:5)',
      '  Failure/Error: expect(price.total).to eq(4)',
      '  expected: 4',
      '  got: 3',
      '  (compared using ==)',
    ],
  },
  'written/ruff-failed.txt': {
    exit: 1,
    lines: [
      'Found 2 errors.',
      'error shop/price.py:1:8: F401 [*] `os` imported but unused',
      'error shop/price.py:12:89: E501 Line too long (104 > 88)',
    ],
  },
}
