import { afterAll, beforeAll, describe } from 'vitest'
import { type CitusCluster, hasCitusCluster, startCitus } from '../testing/citus-cluster.ts'
import { testContractOn } from '../testing/contract-on.ts'

describe.skipIf(!hasCitusCluster)('the engine on Citus', () => {
  let cluster: CitusCluster

  beforeAll(() => {
    cluster = startCitus()
  }, 120_000)

  afterAll(() => cluster.close())

  // Many servers on a machine that tests share: each waits for the others.
  testContractOn(() => cluster.url, 600_000, { patienceMs: 60_000, writePatienceMs: 120_000 })
})
