// Ingest of a backup in a folder: accepted input, where it stops, and how it resumes.
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { SyntheticChain, writeBackup } from '@ledger-state/feed/testing/synthetic-chain'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CommandBed } from '../../testing/command-bed.ts'

const chain = new SyntheticChain({ blocks: 60 })
const LAST = Number(chain.latestVersion)
const SNAPSHOT = chain.records.findLastIndex(({ info }, version) => version < 150 && info[9] === 0 && info[106] === 1)

let bed: CommandBed
beforeEach(() => {
  bed = new CommandBed()
})
afterEach(() => bed.close())

describe('the ingest of a backup', () => {
  it('goes from genesis to its end, and resumes after a genesis blob', async () => {
    writeBackup(chain, bed.at('backup'), { format: 'V1' })
    expect(bed.ingest(bed.at('backup'), 'whole').status).toBe(0)
    writeFileSync(bed.at('genesis.blob'), chain.genesisBlob)
    expect(bed.ingest(bed.at('genesis.blob'), 'parts').status).toBe(0)
    expect(bed.ingest(bed.at('backup'), 'parts', '--to', '50').status).toBe(0)
    expect((await bed.info('parts')).ledger_version).toBe('50')
    expect(bed.ingest(bed.at('backup'), 'parts').status).toBe(0)
    expect(await bed.digest('parts')).toBe(await bed.digest('whole'))
    const again = bed.ingest(bed.at('backup'), 'parts')
    expect([again.status, again.stderr]).toEqual([0, expect.stringContaining('ingested: 0 versions')])
  })

  it('refuses to begin without a base unless an empty one is assumed, which the store then reports', async () => {
    writeBackup(chain, bed.at('backup'), { first: 31, chunk: 20 })
    expect(bed.ingest(bed.at('backup'), 'store')).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(
        /version 31, but the store is empty\. .* assume an empty base with --assume-empty-base/,
      ),
    })
    const block = chain.expected.find(({ version, block }) => version >= 31n && block)!
    const { status, stderr } = bed.ingest(bed.at('backup'), 'store', '--assume-empty-base')
    expect([status, stderr]).toEqual([
      0,
      expect.stringContaining(`begins at version ${block.version} on an assumed empty base`),
    ])
    expect(await bed.info('store')).toMatchObject({ base: 'assumed_empty', base_version: String(block.version) })
    expect(bed.run('info', '--data-dir', bed.at('store')).stdout).toMatch(
      /assumed empty before version .* not known to be absent/,
    )
    // An export of it is not a complete state, either.
    bed.run('export', bed.at('some.ndjson.gz'), '--data-dir', bed.at('store'))
    expect(bed.ingest(bed.at('some.ndjson.gz'), 'copy')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('--assume-empty-base'),
    })
    expect(bed.ingest(bed.at('some.ndjson.gz'), 'copy', '--assume-empty-base').status).toBe(0)
    expect((await bed.info('copy')).base).toBe('assumed_empty')
  })

  it('begins at --from, and leaves no gap', async () => {
    writeBackup(chain, bed.at('backup'))
    const block = chain.expected.find(({ version, block }) => version >= 60n && block)!
    expect(bed.ingest(bed.at('backup'), 'store', '--from', '60', '--to', '90', '--assume-empty-base').status).toBe(0)
    expect(await bed.info('store')).toMatchObject({
      oldest_ledger_version: String(block.version),
      ledger_version: '90',
    })
    expect(bed.ingest(bed.at('backup'), 'store', '--from', '95')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('cannot begin at version 95: the next version of the store is 91'),
    })
    expect(bed.run('ingest', bed.at('backup'), '--dry-run', '--from', '60', '--to', '90').stderr).toMatch(
      /sound: 31 versions \(60 to 90\)/,
    )
  })

  it('stops at a damaged chunk, names it, keeps the versions before it, and resumes once it is repaired', async () => {
    writeBackup(chain, bed.at('backup'), { gzip: false })
    const chunk = bed.at('backup/transaction_50-.ab12/75-.chunk')
    const whole = readFileSync(chunk)
    for (const damaged of [
      whole.subarray(0, whole.length >> 1),
      Buffer.concat([whole.subarray(0, 200), Buffer.of(1), whole.subarray(201)]),
    ]) {
      writeFileSync(chunk, damaged)
      const { status, stderr } = bed.ingest(bed.at('backup'), 'store')
      expect([status, stderr]).toEqual([1, expect.stringMatching(/transaction_50-.ab12\/75-.chunk.*record \d+/)])
      expect((await bed.info('store')).ledger_version).toBe('74')
    }
    renameSync(chunk, `${chunk}.away`)
    expect(bed.ingest(bed.at('backup'), 'store').stderr).toMatch(/the backup is missing .*75-.chunk/)
    writeFileSync(chunk, whole)
    expect(bed.ingest(bed.at('backup'), 'store').status).toBe(0)
    expect((await bed.info('store')).ledger_version).toBe(String(LAST))
  })

  it('takes the chain from --chain-id when the source does not say it', async () => {
    writeBackup(chain, bed.at('backup'), { first: 1, chunk: 3 })
    const options = ['--assume-empty-base', '--to', '1']
    expect(bed.ingest(bed.at('backup'), 'store', ...options)).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(
        /record 0 \(version 1\): the source does not contain its chain id; give it with --chain-id/,
      ),
    })
    expect(bed.ingest(bed.at('backup'), 'store', ...options, '--chain-id', '7').status).toBe(0)
    expect((await bed.info('store')).chain_id).toBe(7)
    expect(bed.ingest(bed.at('backup'), 'store')).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/the source has chain 42, but the store holds chain 7/),
    })
  })

  it('resumes after a state snapshot, and answers as a store from genesis does', async () => {
    const snapshot = writeBackup(chain, bed.at('backup'), { snapshot: { version: SNAPSHOT, chunk: 15 } })
    expect(bed.ingest(snapshot, 'store')).toMatchObject({
      status: 0,
      stderr: expect.stringMatching(/a state of \d+ entries/),
    })
    expect(await bed.info('store')).toMatchObject({
      base: 'state',
      base_version: String(SNAPSHOT),
      ledger_version: String(SNAPSHOT),
    })
    // Blocks of whole transactions begin with the first version of the ingest.
    for (const store of ['store', 'whole'])
      expect(bed.ingest(bed.at('backup'), store, '--keep-transactions', 'none').status).toBe(0)
    bed.run('export', bed.at('a'), '--data-dir', bed.at('store'), '--from', String(SNAPSHOT))
    bed.run('export', bed.at('b'), '--data-dir', bed.at('whole'), '--from', String(SNAPSHOT))
    // The store from genesis knows which versions wrote the entries of the state; everything else is the same.
    const lines = (name: string) => readFileSync(bed.at(name), 'utf8').split('\n')
    const withoutVersions = (line: string) =>
      line.startsWith('{"state"') ? JSON.stringify(JSON.parse(line).state.map(([k, v]: string[]) => [k, v])) : line
    expect(lines('a').map(withoutVersions)).toEqual(lines('b').map(withoutVersions))
    expect(bed.ingest(snapshot, 'whole').stderr).toMatch(/ingested: 0 versions/)
    expect(bed.ingest(bed.at('backup'), 'early', '--to', '20').status).toBe(0)
    expect(bed.ingest(snapshot, 'early')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('needs an empty store'),
    })
  })

  it('refuses a different ledger, which it recognises by its accumulator or its writes', () => {
    writeBackup(chain, bed.at('backup'))
    writeBackup(new SyntheticChain({ blocks: 60, seed: 5 }), bed.at('other'))
    for (const verify of [[], ['--no-verify']]) {
      rmSync(bed.at('store'), { recursive: true, force: true })
      const busy = chain.expected.findIndex(({ writes }, version) => version > 60 && writes.length > 3)
      expect(bed.ingest(bed.at('backup'), 'store', '--to', String(busy), ...verify).status).toBe(0)
      expect(bed.ingest(bed.at('other'), 'store', ...verify)).toMatchObject({
        status: 1,
        stderr: expect.stringMatching(
          verify.length === 0 ? /differs from the ledger of the store/ : /differs from version \d+ of the store/,
        ),
      })
    }
  })

  it('says where a full disk stopped it, and resumes when there is space', async () => {
    writeBackup(new SyntheticChain({ blocks: 1_000 }), bed.at('backup'))
    const prefix = ['bash', '-c', 'ulimit -f 120; exec "$0" "$@"']
    const { status, stderr } = bed.runWith({ prefix }, 'ingest', bed.at('backup'), '--data-dir', bed.at('store'))
    expect(stderr).toMatch(/ledger-state: .*(full|version|record)/)
    expect(status).toBe(1)
    expect(bed.ingest(bed.at('backup'), 'store').status).toBe(0)
    bed.ingest(bed.at('backup'), 'whole')
    expect(await bed.digest('store')).toBe(await bed.digest('whole'))
  })
})
