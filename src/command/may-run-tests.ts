/** A cheap prefilter without false negatives. */
export function mayRunTests(command: string): boolean {
  return /test|spec|check|jest|tap|ava|mocha|phpunit|pest|prove|tox|nox|busted|verify|e2e|karma|behave|cucumber|robot|bats|ginkgo|uvu|cypress|jasmine|ward|tarpaulin|llvm-cov|wtr|\blit\b|kaocha|coveralls|npm t|yarn t|unit|integration|\bt\b/i.test(
    command,
  )
}
