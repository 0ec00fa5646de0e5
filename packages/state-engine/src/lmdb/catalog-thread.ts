// The thread that commits transactions of catalogs, so that the event loop does not wait for the disk. It has LMDB open, and
// LMDB would keep its mutex if the thread ended within a transaction: see `ThreadGate`.
import { workerData } from 'node:worker_threads'
import { serveJobs } from '@ledger-state/core/threads'
import type { CatalogJob, OpenCatalog } from './catalog-commits.js'
import { applyChanges } from './change-recorder.js'
import { type CatalogTables, openCatalogTables } from './lmdb-store.js'
import { withStoreErrors } from './store-errors.js'
import { ThreadGate } from './thread-gate.js'
import { runTransaction } from './write-transaction.js'

const gate = new ThreadGate(workerData as SharedArrayBuffer)
const opened = new Map<number, CatalogTables>()

function open(catalog: OpenCatalog): CatalogTables {
  const found = opened.get(catalog.id)
  if (found) return found
  const { file, storeId, mapBytes } = catalog
  const tables = openCatalogTables(file, { readOnly: false, storeId, mapBytes })
  opened.set(catalog.id, tables)
  return tables
}

async function close(id: number): Promise<void> {
  const tables = opened.get(id)
  opened.delete(id)
  await tables?.root.close()
}

serveJobs<CatalogJob, void>(async (job) => {
  if (job.kind === 'start') return
  if (job.kind === 'close') return await close(job.id)
  const { catalog, durability, changes } = job
  withStoreErrors(catalog.path, () => {
    const tables = open(catalog)
    gate.pass(() => runTransaction(tables.root, durability, () => applyChanges(tables, changes)))
  })
})
