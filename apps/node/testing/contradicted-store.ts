// A store that is signed up to some version, and differs above it from the ledger that validators signed.
import { mkdirSync } from 'node:fs'
import type { AsyncStateWriter, StateWriter } from '@ledger-state/engine'
import { openSource, type SourceOptions } from '@ledger-state/feed'
import { startStandInNode } from '@ledger-state/feed/testing/stand-in-node'
import { forkedChains, writeBackup } from '@ledger-state/feed/testing/synthetic-chain'
import { signedLedgerInfo, waypointHash, writeEndings } from '@ledger-state/feed/testing/synthetic-epochs'
import { ingestSource } from '@ledger-state/ingest'
import { openStateEngine } from '@ledger-state/state-engine'

const { begin, signed, fork } = forkedChains()

export const WAYPOINT = `0:${waypointHash(signed.endings()[0]!)}`
/** The newest version of the store that is signed. */
export const SIGNED_VERSION = begin.latestVersion
/** The newest version of the store. */
export const FORK_VERSION = fork.latestVersion
/** The newest version of the signed ledger. */
export const LATEST_VERSION = signed.latestVersion

type Open = () => Promise<StateWriter | AsyncStateWriter>

async function ingest(open: Open, location: string, options: SourceOptions): Promise<void> {
  const engine = await open()
  const source = await openSource(location, { thread: false, ...options })
  await ingestSource(engine, source)
  await source.close()
  await engine.close()
}

/**
 * Fills a store with a signed ledger and, above it, with a different ledger from a node. The folder then also has the
 * signed ledger as a backup, `backup`, and only its epoch changes, `endings`.
 * @param open opens the store; by default the folder `store` inside the folder
 */
export async function writeContradictedStore(
  folder: string,
  open: Open = async () => openStateEngine({ path: `${folder}/store` }),
): Promise<void> {
  for (const [name, chain] of [
    ['begin', begin],
    ['backup', signed],
  ] as const) {
    writeBackup(chain, `${folder}/${name}`)
    writeEndings(`${folder}/${name}`, chain.endings().map(signedLedgerInfo))
  }
  mkdirSync(`${folder}/endings`)
  writeEndings(`${folder}/endings`, signed.endings().map(signedLedgerInfo))
  await ingest(open, `${folder}/begin`, { waypoints: [WAYPOINT] })
  const node = await startStandInNode(fork)
  await ingest(open, node.url, {})
  await node.close()
}
