/**
 * How many cases a property test tries: all of them where STINT_TEST_CASES is `all`, as CI sets it, and else a fifth, so that
 * `npm test` stays quick.
 */
export function cases(all: number): number {
  return process.env['STINT_TEST_CASES'] === 'all' ? all : Math.ceil(all / 5)
}
