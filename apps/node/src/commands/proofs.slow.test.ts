// The way from a signed backup to a verified read of a client, with the real program: ingest, keep-tree, serve, verify.
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { bytesToHex, hexToBytes } from '@ledger-state/core'
import { SyntheticChain, writeBackup } from '@ledger-state/feed/testing/synthetic-chain'
import { signedLedgerInfo, waypointHash, writeEndings } from '@ledger-state/feed/testing/synthetic-epochs'
import { type ReadQuestion, readProofFrom, verifyRead } from '@ledger-state/light-client'
import { type PostgresServer, startPostgres } from '@ledger-state/postgres-engine/testing/postgres-server'
import { eventually } from '@ledger-state/testing/eventually'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { CommandBed } from '../../testing/command-bed.ts'

const JSON_TYPE = 'application/json'
const BCS_TYPE = 'application/x-bcs'
const HANDLE = '0xabc'

interface Trust {
  readonly proof_versions: readonly string[]
  readonly waypoint: string
}

interface Read {
  readonly question: ReadQuestion
  readonly path: string
  readonly body?: unknown
  readonly isThere: boolean
}

const item = (key: string, isThere: boolean): Read => ({
  question: { kind: 'raw_table_item', handle: HANDLE, key: hexToBytes(key) },
  path: `/tables/${HANDLE}/raw_item`,
  body: { key },
  isThere,
})

const READS: readonly Read[] = [
  item('0x0300000000000000', true),
  item('0xffffffffffffffff', false),
  {
    question: { kind: 'table_item', handle: HANDLE, keyType: 'u64', valueType: 'u64', key: '18446744073709551615' },
    path: `/tables/${HANDLE}/item`,
    body: { key_type: 'u64', value_type: 'u64', key: '18446744073709551615' },
    isThere: false,
  },
  { question: { kind: 'account', address: '0xabc' }, path: '/accounts/0xabc', isThere: false },
]

const ask = async (url: string, { path, body }: Read, accept: string, version: string, trusted: string) =>
  await fetch(`${url}${path}?ledger_version=${version}&proof=true&proof_from=${trusted}`, {
    headers: { accept, ...(body !== undefined && { 'content-type': JSON_TYPE }) },
    ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
  })

/**
 * Verifies the reads of a node, and that a changed value is never accepted.
 * @param url URL of its API
 */
async function believesReads(url: string, trusted: string): Promise<void> {
  const verify = (answer: unknown, { question }: Read) =>
    verifyRead(answer, { question, version: 247n, waypoint: trusted, readProof: readProofFrom(url) })
  for (const read of READS) {
    const text = await (await ask(url, read, JSON_TYPE, '247', trusted)).text()
    const bcs = new Uint8Array(await (await ask(url, read, BCS_TYPE, '247', trusted)).arrayBuffer())
    for (const answer of [text, bcs]) {
      const { bytes, signers } = await verify(answer, read)
      expect([read.path, bytes !== undefined]).toEqual([read.path, read.isThere])
      expect(signers).toMatchObject({ epoch: 8n, power: { signed: 80n, total: 90n } })
    }
    const { proof } = JSON.parse(text) as { readonly proof: unknown }
    await expect(verify({ value: '0x00', proof }, read)).rejects.toMatchObject({ code: 'answer_differs' })
    const opposite = read.isThere ? null : bytesToHex(Uint8Array.of(1))
    await expect(verify({ value: opposite, proof }, read)).rejects.toMatchObject({ code: 'answer_differs' })
  }
}

describe.skipIf(!hasSharedData)('a read of a signed backup (skipped without ../shared)', () => {
  const made = () => sharedPath('data/epochs/made')
  const waypoint = () =>
    (JSON.parse(readFileSync(join(made(), 'facts.json'), 'utf8')) as { readonly genesis_waypoint: string })
      .genesis_waypoint
  let server: PostgresServer
  let bed: CommandBed
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server?.close())
  beforeEach(() => {
    bed = new CommandBed()
  })
  afterEach(() => bed.close())

  it.each(['folder', 'PostgreSQL'])(
    'is accepted since the waypoint, and refused with a wrong value: %s',
    async (kind) => {
      const isFolder = kind === 'folder'
      const place = isFolder ? ['--data-dir', bed.at('store')] : ['--store', await server.createDatabase('proofs')]
      const trees = isFolder ? [] : ['--tree-dir', bed.folder]
      const trusted = waypoint()
      expect(bed.run('ingest', made(), ...place, '--waypoint', trusted, '--checkpoint-trees', '0')).toMatchObject({
        status: 0,
      })
      const kept = bed.run('trust', 'keep-tree', ...place, ...trees)
      expect(kept.stdout).toMatch(/^the tree of version 247 is kept, for proofs: .*; the state is the signed one\n$/)
      const { address } = await bed.serve('serve', ...place, ...trees)
      const url = `${address}/v1`
      const trust = (await (await fetch(`${url}/-/trust`)).json()) as Trust
      expect(trust).toMatchObject({ proof_versions: ['247'], waypoint: trusted })
      await believesReads(url, trusted)
      const elsewhere = await ask(url, READS[0]!, JSON_TYPE, '240', trusted)
      expect([elsewhere.status, await elsewhere.json()]).toMatchObject([410, { nearest_proof_version: '247' }])
    },
  )

  it('is accepted from a node on a restored snapshot, and of a replica, which makes the tree by itself', async () => {
    const trusted = waypoint()
    const store = ['--data-dir', bed.at('store')]
    expect(bed.run('ingest', made(), ...store, '--waypoint', trusted)).toMatchObject({ status: 0 })
    expect(bed.run('snapshot', bed.at('restored'), ...store)).toMatchObject({ status: 0 })
    const restored = ['--data-dir', bed.at('restored')]
    expect(bed.run('trust', 'keep-tree', ...restored)).toMatchObject({ status: 0 })
    const { address } = await bed.serve('serve', ...restored)
    await believesReads(`${address}/v1`, trusted)
    const source = await bed.serve('serve', ...store, '--serve-feed', '127.0.0.1:0')
    const output = await source.program.outputMatching(/serving replicas on (http:[^"\s]+)/)
    const feed = /serving replicas on (http:[^"\s]+)/.exec(output)![1]!
    const replica = await bed.serve('serve', '--data-dir', bed.at('replica'), '--replica-of', feed)
    const trustOf = async () => (await (await fetch(`${replica.address}/v1/-/trust`)).json()) as Trust
    await eventually(
      async () => (await trustOf()).proof_versions[0] === '247',
      () => `the tree of a replica: ${replica.program.output}`,
    )
    await believesReads(`${replica.address}/v1`, trusted)
  })
})

describe('the ingest of a state snapshot', () => {
  let bed: CommandBed
  beforeEach(() => {
    bed = new CommandBed()
  })
  afterEach(() => bed.close())

  it.each([true, false])('compares the root of the state: %s', async (isChecked) => {
    const chain = new SyntheticChain({ blocks: 30, signers: true })
    const version = Number(chain.endings()[2]!.version)
    mkdirSync(bed.at('backup'))
    const snapshot = writeBackup(chain, bed.at('backup'), { snapshot: { version, chunk: 20 } })
    writeEndings(bed.at('backup'), chain.endings().map(signedLedgerInfo))
    const trusted = `0:${waypointHash(chain.endings()[0]!)}`
    const words = ['ingest', snapshot, '--data-dir', bed.at('store'), '--waypoint', trusted, '--checkpoint-trees', '0']
    const { status, stderr } = bed.run(...words, ...(isChecked ? [] : ['--no-check-state-root']))
    expect(status).toBe(0)
    const said = `state root of version ${version}: ${chain.stateRoot(version).toString('hex')}, as the ledger says (signed by epoch ${chain.epoch})`
    expect(stderr.includes(said)).toBe(isChecked)
    expect(stderr.includes('state root of')).toBe(isChecked)
    // A check that was left out can be made later.
    const later = bed.run('check', '--state-root', '--data-dir', bed.at('store'))
    expect([later.status, later.stdout.trim()]).toEqual([0, said])
  })
})
