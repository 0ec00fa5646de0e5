import { writeServedStore } from '../http/served-store.ts'
import { hasValgrind, instructionsOf } from '../instructions/count-instructions.ts'
import { isRequest, OPERATIONS } from '../instructions/operations.ts'
import type { Suite } from '../run/suite.ts'

export const instructionsSuite: Suite = {
  name: 'instructions',
  summary: 'instructions of one look-up, write, GET and POST, counted by valgrind: a busy machine does not change them',
  estimate: () => ({ minutes: 2, memoryBytes: 1e9, diskBytes: 0.1e9 }),
  async run(run) {
    if (!hasValgrind()) {
      run.note('left out: there is no valgrind')
      return
    }
    const cacheFolder = run.folder('compiled')
    await writeServedStore(run.folder('served'))
    const isTiny = run.scale === 'tiny'
    if (isTiny) run.note('only of requests: pnpm check-instructions counts the look-ups and writes')
    for (const { name, title, role, counts } of OPERATIONS) {
      if (isTiny && !isRequest(name) && role === 'ours') continue
      run.step(name)
      const storeFolder = (count: number) => run.folder(isRequest(name) ? 'served' : `${name} ${count}`)
      const share = run.byScale({ tiny: 0.05, small: 1, medium: 1, large: 1 })
      const scaled = [counts[0] * share, counts[1] * share] as const
      const rounds = await instructionsOf({ operation: name, counts: scaled, cacheFolder, storeFolder })
      run.record({ title, subject: name, role, metric: 'instructions', unit: '', rounds })
    }
  },
}
