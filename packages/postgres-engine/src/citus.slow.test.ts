import { describe } from 'vitest'
import { CITUS_URL } from '../testing/citus-cluster.ts'
import { testContractOn } from '../testing/contract-on.ts'

describe.skipIf(CITUS_URL === undefined)('the engine on Citus (CITUS_URL)', () => {
  // Many servers on a machine that tests share: each waits for the others.
  testContractOn(() => CITUS_URL!, 600_000, { patienceMs: 60_000, writePatienceMs: 120_000 })
})
