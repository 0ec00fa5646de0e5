// From a signed backup to what a client believes, with the real program: ingest, keep-tree, serve, verify.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { bytesToHex, hexToBytes } from '@ledger-state/core'
import { type ReadQuestion, readProofFrom, verifyRead } from '@ledger-state/light-client'
import { type PostgresServer, startPostgres } from '@ledger-state/postgres-engine/testing/postgres-server'
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
    'is believed from the waypoint on, and not beside a wrong value: %s',
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
      const ask = async ({ path, body }: Read, accept: string, version: string) =>
        await fetch(`${url}${path}?ledger_version=${version}&proof=true&proof_from=${trusted}`, {
          headers: { accept, ...(body !== undefined && { 'content-type': JSON_TYPE }) },
          ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
        })
      const verify = (answer: unknown, { question }: Read) =>
        verifyRead(answer, { question, version: 247n, waypoint: trusted, readProof: readProofFrom(url) })
      for (const read of READS) {
        const text = await (await ask(read, JSON_TYPE, '247')).text()
        const bcs = new Uint8Array(await (await ask(read, BCS_TYPE, '247')).arrayBuffer())
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
      const elsewhere = await ask(READS[0]!, JSON_TYPE, '240')
      expect([elsewhere.status, await elsewhere.json()]).toMatchObject([410, { nearest_proof_version: '247' }])
    },
  )
})
