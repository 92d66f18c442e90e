/** True of every command that could run tests, and cheaper than parsing it. */
export function mayRunTests(command: string): boolean {
  return /test|spec|check|jest|tap|ava|mocha|phpunit|pest|prove|tox|nox|busted|verify|e2e|karma|behave|cucumber|robot|bats|ginkgo|uvu|cypress|jasmine|ward|tarpaulin|llvm-cov|wtr|\blit\b|kaocha|coveralls|npm t|yarn t|unit|integration|\bt\b/i.test(
    command,
  )
}
