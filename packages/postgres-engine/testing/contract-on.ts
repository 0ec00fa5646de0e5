import { STATE_ENGINE_CONTRACT } from '@ledger-state/engine/contract'
import pg from 'pg'
import { expect, it } from 'vitest'
import {
  openPostgresEngine,
  openPostgresEngineReader,
  type PostgresWriterOptions,
} from '../src/open-postgres-engine.ts'
import { clearStore } from './clear-store.ts'

const TRAITS = { countsEveryDrop: true, greatestNumber: 2n ** 63n - 1n }

/** Runs the contract of engines on a database, with one store after the other. Each store is checked at its end. */
export function testContractOn(
  findUrl: () => string,
  timeout = 60_000,
  options: Pick<PostgresWriterOptions, 'patienceMs' | 'writePatienceMs'> = {},
): void {
  for (const { name, runAsync } of STATE_ENGINE_CONTRACT) {
    it(name, { timeout }, async () => {
      const url = findUrl()
      await clearStore(url)
      await runAsync(() => openPostgresEngine({ url, ...options }), TRAITS)
      const { patienceMs } = options
      const reader = await openPostgresEngineReader({ url, patienceMs })
      expect((await reader.check()).problems).toEqual([])
      await reader.close()
    })
  }
}

/** Removes the store of a database. */
export async function removeStore(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('DROP SCHEMA IF EXISTS ledger_state CASCADE')
  await client.end()
}
