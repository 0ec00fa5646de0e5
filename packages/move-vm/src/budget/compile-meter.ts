/** Counts the cost of making types: work in instructions, and retained heap bytes. */
export interface CompileMeter {
  /**
   * Charges work and bytes, before they are done and made.
   * @throws VmFault if the budget is exhausted
   */
  charge(work: number, bytes: number): void
}

/** Counts work in steps. */
export interface StepMeter extends CompileMeter {
  /**
   * Called between two steps.
   * @throws TurnOver if the turn is over
   */
  expectTurn(): void
}

/** For types that are made at no one's cost, and for code that no client can choose. */
export const UNMETERED: StepMeter = { charge: () => {}, expectTurn: () => {} }
