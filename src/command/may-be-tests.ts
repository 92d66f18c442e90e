// Cheaper than understanding the command, and true of every one that could be a run of tests.
const MAY_TEST =
  /test|spec|check|jest|tap|ava|mocha|phpunit|pest|prove|tox|nox|busted|verify|e2e|karma|behave|cucumber|robot|bats|ginkgo|uvu|cypress|jasmine|ward|tarpaulin|llvm-cov|wtr|\blit\b|kaocha|coveralls|npm t|yarn t|unit|integration|\bt\b/i

/** Whether a command is worth being understood. */
export function mayBeTests(command: string): boolean {
  return MAY_TEST.test(command)
}
