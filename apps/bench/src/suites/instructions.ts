import { writeServedStore } from '../http/served-store.ts'
import { hasValgrind, instructionsOf } from '../instructions/count-instructions.ts'
import { OPERATIONS, REQUESTS } from '../instructions/operations.ts'
import type { Suite } from '../run/suite.ts'

export const instructionsSuite: Suite = {
  name: 'instructions',
  summary:
    'instructions of one look-up, write, GET and POST, counted by valgrind: figures that a busy machine cannot change',
  estimate: () => ({ minutes: 3, memoryBytes: 1e9, diskBytes: 0.1e9 }),
  async run(run) {
    if (!hasValgrind()) {
      run.note('left out: there is no valgrind')
      return
    }
    for (const { name, title, role, counts } of OPERATIONS) {
      run.step(name)
      const isServed = REQUESTS.some((request) => request === name)
      const folder = (of: string) => run.folder(isServed ? 'served' : of)
      if (isServed) await writeServedStore(run.folder('served'))
      const rounds = await instructionsOf(name, counts, folder)
      run.record({ title, subject: name, role, metric: 'instructions', unit: '', rounds })
      if (isServed) run.removeFolder('served')
    }
  },
}
