import type { Suite } from '../run/suite.ts'
import { auditSuite } from './audit.ts'
import { codecSuite } from './codec.ts'
import { commitSuite } from './commit.ts'
import { distributedSuite } from './distributed.ts'
import { exportSuite } from './export.ts'
import { holdingsSuite } from './holdings.ts'
import { hostileSuite } from './hostile.ts'
import { httpSuite } from './http.ts'
import { ingestSuite } from './ingest.ts'
import { interferenceSuite } from './interference.ts'
import { lookupSuite } from './lookup.ts'
import { pruneSuite } from './prune.ts'
import { transactionsSuite } from './transactions.ts'
import { viewsSuite } from './views.ts'

/** All suites, in the order of their runs. */
export const SUITES: readonly Suite[] = [
  lookupSuite,
  commitSuite,
  pruneSuite,
  auditSuite,
  codecSuite,
  viewsSuite,
  httpSuite,
  ingestSuite,
  holdingsSuite,
  exportSuite,
  transactionsSuite,
  distributedSuite,
  interferenceSuite,
  hostileSuite,
]
