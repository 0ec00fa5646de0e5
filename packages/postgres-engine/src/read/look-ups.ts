import { hash } from 'node:crypto'
import { branchOf, type LedgerInfo, type StateEntry, versionPruned } from '@ledger-state/core'
import type { QueryResultRow } from 'pg'
import { LOOK_UP, LOOK_UP_AT, type LookUpAtRow, type LookUpRow } from './questions.js'
import { type Answer, expectNotCut, type Servers } from './servers.js'
import { answerGroups, createTickBatch } from './tick-batch.js'

/** Look-ups of one statement. */
const MOST = 500

export interface LookUp {
  readonly key: Uint8Array
  readonly version: bigint
  /** That of the view. */
  readonly ledger: LedgerInfo
}

interface LookedUp {
  readonly entry: StateEntry | undefined
  readonly answer: Answer<unknown>
}

type WindowListener = (answer: Answer<unknown>, askedAt: number) => void

/** Keys are found by their SHA-256, 32 bytes: index entries of PostgreSQL end near 2,700 bytes, keys at 64 KiB. */
export function hashKey(key: Uint8Array): Buffer {
  return hash('sha256', key, 'buffer')
}

/**
 * Looks keys up; those of one tick go in one statement.
 * @throws `version_pruned`, `version_truncated` where a version was pruned or cut off meanwhile
 */
export function createLookUps(
  servers: Servers,
  onWindow: WindowListener,
): (lookUp: LookUp) => Promise<StateEntry | undefined> {
  const ask = (lookUps: readonly LookUp[]) =>
    servers.isSharded ? askByVersion(servers, lookUps, onWindow) : askTogether(servers, lookUps, onWindow)
  const lookUp = createTickBatch(MOST, (lookUps: readonly LookUp[]) =>
    answerGroups(lookUps, ({ ledger }) => branchOf(ledger), ask),
  )
  return async (asked) => {
    const { entry, answer } = await lookUp(asked)
    expectNotCut(asked.version, asked.ledger, answer)
    if (asked.version < answer.oldestVersion) throw versionPruned(asked.version, answer.oldestVersion)
    return entry
  }
}

async function askTogether(
  servers: Servers,
  lookUps: readonly LookUp[],
  onWindow: WindowListener,
): Promise<LookedUp[]> {
  const askedAt = performance.now()
  const answer = await servers.ask<LookUpRow & QueryResultRow>({
    name: 'look-up',
    text: LOOK_UP,
    values: [lookUps.map(({ key }) => hashKey(key)), lookUps.map(({ version }) => String(version))],
    version: lookUps.reduce((most, { version }) => (version > most ? version : most), 0n),
    ledger: lookUps[0]!.ledger,
  })
  onWindow(answer, askedAt)
  const found = lookUps.map((): LookedUp => ({ entry: undefined, answer }))
  for (const { place, version, value } of answer.rows) {
    found[Number(place) - 1] = { entry: { version: BigInt(version), value }, answer }
  }
  return found
}

/** One statement for each version; most requests ask for the newest. */
async function askByVersion(
  servers: Servers,
  lookUps: readonly LookUp[],
  onWindow: WindowListener,
): Promise<LookedUp[]> {
  const askedAt = performance.now()
  const hashed = lookUps.map(({ key, version }) => ({ hash: hashKey(key), version }))
  const byVersion = Map.groupBy(hashed, ({ version }) => version)
  const found = new Map<string, LookedUp>()
  const answers = new Map<bigint, Answer<unknown>>()
  const ask = async ([version, asked]: readonly [bigint, typeof hashed]): Promise<void> => {
    const answer = await servers.ask<LookUpAtRow & QueryResultRow>({
      name: 'look-up at',
      text: LOOK_UP_AT,
      values: [asked.map(({ hash }) => hash), String(version)],
      version,
      ledger: lookUps[0]!.ledger,
    })
    onWindow(answer, askedAt)
    answers.set(version, answer)
    for (const row of answer.rows) {
      const entry = { version: BigInt(row.version), value: row.value }
      found.set(`${version} ${row.key_hash.toString('latin1')}`, { entry, answer })
    }
  }
  await Promise.all([...byVersion].map(ask))
  return hashed.map(({ hash, version }) => {
    const one = found.get(`${version} ${hash.toString('latin1')}`)
    // Equal look-ups do not share their bytes: callers own them.
    return one?.entry
      ? { ...one, entry: { ...one.entry, value: Uint8Array.from(one.entry.value) } }
      : { entry: undefined, answer: answers.get(version)! }
  })
}
