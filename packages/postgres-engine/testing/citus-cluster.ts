import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'

/** A cluster that is running already; otherwise one is started. */
const GIVEN_URL = process.env.CITUS_URL

export const hasCitusCluster = GIVEN_URL !== undefined || hasSharedData

export interface CitusCluster {
  /** Of the coordinator. */
  readonly url: string
  close(): void
}

/** A coordinator with workers, by the script of the shared folder. */
export function startCitus(workers = 2): CitusCluster {
  if (GIVEN_URL !== undefined) return { url: GIVEN_URL, close() {} }
  const folder = mkdtempSync(join(tmpdir(), 'citus-'))
  const run = (...words: string[]) => execFileSync(sharedPath('citus/cluster.sh'), words, { encoding: 'utf8' })
  const close = () => {
    run('stop', folder)
    rmSync(folder, { recursive: true })
  }
  try {
    return { url: run('start', folder, String(workers)).trim(), close }
  } catch (error) {
    close()
    throw error
  }
}
