/** Counts checks, and prints those that fail. */
export class Tally {
  passed = 0
  failed = 0

  /** Counts a check, as passed if there is no `fault`. */
  add(check: string, fault: string | undefined): void {
    if (fault === undefined) this.passed++
    else {
      this.failed++
      console.log(`${check}: ${fault}`)
    }
  }

  /** Prints the last line of a step of CI, and sets the exit status of the process. */
  finish(): void {
    console.log(`${this.passed} passed, ${this.failed} failed`)
    process.exitCode = this.failed > 0 ? 1 : 0
  }
}
