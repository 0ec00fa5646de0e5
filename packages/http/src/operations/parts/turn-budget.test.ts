import { expect, it } from 'vitest'
import { TURN_BUDGET_MS } from '../../admission/turn-queue.js'
import { runInTurns } from './turn-budget.js'

/** Steps, each of which takes longer than a turn if it is to. */
function* steps(count: number, isLong: boolean): Generator<undefined, string> {
  for (let left = count; left > 0; left--) {
    for (const begun = performance.now(); isLong && performance.now() - begun <= TURN_BUDGET_MS; );
    yield
  }
  return 'done'
}

it('short steps are run at once, and each long one lets others have a turn', async () => {
  let turns = 0
  const request = {
    nextTurn: async () => {
      turns++
      return TURN_BUDGET_MS
    },
  }
  expect(await runInTurns(request, steps(0, false))).toBe('done')
  expect(turns).toBe(0)
  const long = runInTurns(request, steps(5, true))
  expect(long).toBeInstanceOf(Promise)
  expect(await long).toBe('done')
  expect(turns).toBeGreaterThanOrEqual(3)
})
