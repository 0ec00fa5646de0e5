import type { Suite } from './bench-run.js'
import { codecSuite } from './suites/codec.js'
import { commitSuite } from './suites/commit.js'
import { httpSuite } from './suites/http.js'
import { ingestSuite } from './suites/ingest.js'
import { lookupSuite } from './suites/lookup.js'
import { pruneSuite } from './suites/prune.js'
import { soakSuite } from './suites/soak.js'

export const SUITES: readonly Suite[] = [
  lookupSuite,
  commitSuite,
  pruneSuite,
  codecSuite,
  httpSuite,
  ingestSuite,
  soakSuite,
]
