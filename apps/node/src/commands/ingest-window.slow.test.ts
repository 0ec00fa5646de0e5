// Windows of a backup in a bucket, ingested by the real program: files that are fetched, refusals, and the remains
// after a kill.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { gunzipSync, gzipSync } from 'node:zlib'
import { bytesToHexDigits } from '@ledger-state/core'
import { type BucketServer, htmlPage, silence, startBucketServer } from '@ledger-state/feed/testing/bucket-server'
import { SyntheticChain, writeBackup } from '@ledger-state/feed/testing/synthetic-chain'
import { signedLedgerInfo, waypointHash, writeEndings } from '@ledger-state/feed/testing/synthetic-epochs'
import { isOwnKey } from '@ledger-state/records'
import { openStateEngineReader } from '@ledger-state/state-engine'
import { eventually } from '@ledger-state/testing/eventually'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CommandBed } from '../../testing/command-bed.ts'
import { writeOwnNetwork } from '../../testing/own-network.ts'
import { RunningProgram } from '../../testing/program.ts'

const CHUNK = 10
const chain = new SyntheticChain({ blocks: 120, signers: true })
const endings = chain.endings()
const LAST = Number(chain.latestVersion)
const BASE = Number(endings[3]!.version)
const WAYPOINT = `0:${waypointHash(endings[0]!)}`
const LAST_MILLISECONDS = Number(endings.at(-1)!.timestampUsec! / 1_000n)

let bed: CommandBed
let bucket: BucketServer
let env: NodeJS.ProcessEnv
beforeEach(async () => {
  bed = new CommandBed()
  mkdirSync(bed.at('bucket/e1'), { recursive: true })
  writeBackup(chain, bed.at('bucket/e1'), { chunk: CHUNK, folder: 4, snapshot: { version: BASE, chunk: 20 } })
  writeEndings(bed.at('bucket/e1'), endings.map(signedLedgerInfo), [0, 2, 5])
  bucket = await startBucketServer(bed.at('bucket'), { pageSize: 20 })
  env = { AWS_ENDPOINT_URL: bucket.origin }
})
afterEach(async () => {
  await bucket.close()
  await bed.close()
})

function ingesting(store: string, ...options: string[]): RunningProgram {
  const words = ['ingest', 's3://bucket/e1', '--data-dir', bed.at(store), '--waypoint', WAYPOINT, ...options]
  return new RunningProgram(words, { cwd: bed.folder, env })
}

const fetched = () => bucket.requests.filter(({ isListing }) => !isListing).map(({ key }) => key)
/** First versions of the chunks of transactions that were requested. */
const chunks = () =>
  fetched()
    .flatMap((key) => /transaction_.*\/(\d+)-\.chunk/.exec(key)?.[1] ?? [])
    .map(Number)

/** Keys and values of the newest version of a store. */
async function newestOf(store: string): Promise<ReadonlyMap<string, string>> {
  const engine = openStateEngineReader({ path: bed.at(store) })
  const found = new Map<string, string>()
  for (const { key, value } of engine.at(engine.ledger!.latestVersion).scan(new Uint8Array(0))) {
    if (!isOwnKey(key)) found.set(bytesToHexDigits(key), bytesToHexDigits(value))
  }
  await engine.close()
  return found
}

/**
 * Compares a slice with the whole by their newest versions: it has all of the account, less than half of the rest, and
 * nothing else.
 */
function expectSlice(kept: ReadonlyMap<string, string>, whole: ReadonlyMap<string, string>, account: string): void {
  const isAsked = (key: string): boolean => key.slice(2).startsWith(account.slice(2))
  const asked = [...whole].filter(([key]) => isAsked(key))
  expect(asked.length).toBeGreaterThan(2)
  expect([...kept].filter(([key]) => isAsked(key))).toEqual(asked)
  expect(kept.size).toBeLessThan(whole.size / 2)
  for (const [key, value] of kept) expect(whole.get(key), key).toBe(value)
}

describe('ingest --since', () => {
  it('begins with the state and continues to the end, signed; a second run fetches no metadata, and nothing large', async () => {
    const first = await ingesting('store', '--since', String(BASE + 3)).outcome()
    expect([first.status, first.stderr]).toEqual([0, expect.stringMatching(/to fetch: \d+ objects, [\d.]+ KiB\n/)])
    expect(await bed.info('store')).toMatchObject({
      base_version: String(BASE),
      ledger_version: String(LAST),
      signed_version: String(LAST),
      waypoint: WAYPOINT,
    })
    expect(readdirSync(bed.at('store/sources')).filter((name) => name.startsWith('ledger-state-fetching-'))).toEqual([])
    bucket.requests.length = 0
    expect((await ingesting('store', '--since', String(BASE + 3)).outcome()).status).toBe(0)
    expect(fetched().filter((key) => /\.meta|\.manifest/.test(key))).toEqual([])
    expect(chunks()).toEqual([LAST - (LAST % CHUNK)])
  })

  it('compares the oldest root of the window if --retain has pruned the state, and still keeps the tree', async () => {
    const { status, stderr } = await ingesting('store', '--since', String(BASE), '--retain', '20').outcome()
    const { oldest_ledger_version } = await bed.info('store')
    const oldest = BigInt(oldest_ledger_version!)
    expect(oldest).toBeGreaterThan(BASE)
    const end = chain.expected.find(({ version, block }) => block && version > oldest)!.version - 1n
    expect([status, stderr]).toEqual([
      0,
      expect.stringContaining(
        `the imported state of version ${BASE} is pruned (--retain): version ${end} is compared instead`,
      ),
    ])
    const root = chain.stateRoot(Number(end)).toString('hex')
    expect(stderr).toContain(`state root of version ${end}: ${root}, as the ledger says (signed by epoch`)
    expect(stderr).toMatch(/tree of version \d+/)
  })

  it('takes a date, and continues with the same state when the same words mean another time', async () => {
    const date = new Date(LAST_MILLISECONDS + 1_000).toISOString()
    expect((await ingesting('store', '--since', date).outcome()).status).toBe(0)
    expect((await bed.info('store')).base_version).toBe(String(BASE))
  })

  it('prints the sizes with --dry-run, and leaves nothing', async () => {
    const { status, stdout } = await ingesting('store', '--since', String(BASE), '--dry-run').outcome()
    expect([status, stdout]).toEqual([
      0,
      expect.stringMatching(
        new RegExp(
          [
            `the state at version ${BASE}, and versions ${BASE + 1} to ${LAST} of the backup in s3://bucket/e1`,
            `state at version ${BASE}: ${chain.records[BASE]!.state.size} entries`,
            `versions ${BASE + 1} to ${LAST}: ${LAST - BASE}`,
            'to fetch: \\d+ objects, [\\d.]+ KiB, .* s at .*/s, measured just now',
            `epoch changes to check signatures: ${endings.length}, two small objects each`,
            'to prove and write: about .* s, as measured in docs/sizing.md',
            'disk to be filled: about [\\d.]+ .iB, of [\\d.]+ .iB that are free',
          ].join('\\n'),
        ),
      ),
    ])
    expect(existsSync(bed.at('store'))).toBe(false)
  })

  it('is refused if the disk is too small, before anything large is fetched', async () => {
    const name = readdirSync(bed.at('bucket/e1')).find((one) => one.startsWith('state_'))!
    const path = join(bed.at('bucket/e1'), name, 'state.manifest.gz')
    const manifest = JSON.parse(gunzipSync(readFileSync(path)).toString())
    manifest.chunks.at(-1).last_idx = 9e14
    writeFileSync(path, gzipSync(JSON.stringify(manifest)))
    const refused = await ingesting('store', '--since', String(BASE)).outcome()
    expect([refused.status, refused.stderr]).toEqual([
      1,
      expect.stringMatching(
        /\nledger-state: the disk of .* has .* free, but the ingest needs about [\d.]+ TiB: nothing was/,
      ),
    ])
    expect(fetched().filter((key) => key.includes('chunk') && !key.includes('epoch_ending'))).toEqual([])
    expect(existsSync(bed.at('store/data.mdb'))).toBe(false)
    const described = await ingesting('store', '--since', String(BASE), '--dry-run').outcome()
    expect(described).toEqual({
      status: 1,
      stdout: expect.stringMatching(
        /to fetch: [\s\S]*disk to be filled: about [\d.]+ TiB, of [\d.]+ .iB that are free\n$/,
      ),
      stderr: expect.stringMatching(
        /^ledger-state: the disk of .* has .* free, but the ingest needs about [\d.]+ TiB: nothing.*\n$/,
      ),
    })
    const passedOver = await ingesting('store', '--since', String(BASE), '--dry-run', '--no-check-disk').outcome()
    expect([passedOver.status, passedOver.stderr]).toEqual([0, ''])
    // The forecast can be overridden; but the manifest is wrong.
    const begun = await ingesting('store', '--since', String(BASE), '--no-check-disk').outcome()
    expect(begun.stderr).toMatch(/state_.*chunk/)
  })

  it.each([
    ['--since', ['99999999'], 1, /ends at version \d+, before 99999999/],
    [
      '--since',
      ['1d'],
      1,
      /the newest epoch in s3:\/\/bucket\/e1 ended at 2023.* the clock of this machine .*: the clock is wrong, or/,
    ],
    ['--since', ['2999-01-01'], 2, /"2999-01-01" is in the future: the clock of this machine says 20/],
    ['--since', ['0', '--from', '0'], 2, /--from and --since both set where to begin/],
    ['--to', ['2026-01-01'], 2, /--to 2026-01-01 is a time; a time needs --since/],
  ])('refuses %s %j in one line', async (option, words, status, message) => {
    const outcome = await ingesting('store', option, ...words).outcome()
    expect([outcome.status, outcome.stderr]).toEqual([status, expect.stringMatching(message)])
    expect(outcome.stderr.split('\n').length).toBe(2)
    expect(existsSync(bed.at('store/data.mdb'))).toBe(false)
  })

  it('refuses a gap between stretches or chunks, and a state that is newer than asked for, and keeps the versions of the store', async () => {
    const first = BASE + 1 - ((BASE + 1) % (4 * CHUNK))
    const held = String(first + 4 * CHUNK - 1)
    expect((await ingesting('store', '--since', String(BASE), '--to', held).outcome()).status).toBe(0)
    const stretches = readdirSync(bed.at('bucket/e1/metadata')).filter((name) => name.startsWith('transaction_'))
    const gone = stretches.find((name) => name.startsWith(`transaction_${first + 4 * CHUNK}-`))!
    rmSync(bed.at(join('bucket/e1/metadata', gone)))
    const gap = await ingesting('store', '--since', String(BASE)).outcome()
    const missing = `is missing versions ${first + 4 * CHUNK} to ${first + 8 * CHUNK - 1}`
    expect([gap.status, gap.stderr]).toEqual([1, expect.stringMatching(new RegExp(`^ledger-state: .*${missing}\n$`))])
    const later = await ingesting('other', '--since', String(first + 8 * CHUNK)).outcome()
    expect([later.status, later.stderr]).toEqual([1, expect.stringMatching(missing)])
    for (const name of stretches.filter((name) => name.startsWith('transaction_0-'))) {
      rmSync(bed.at(join('bucket/e1/metadata', name)))
    }
    const early = await ingesting('other', '--since', String(BASE - 1)).outcome()
    expect([early.status, early.stderr]).toEqual([
      1,
      expect.stringMatching(
        new RegExp(
          `cannot begin at version ${BASE - 1}: its oldest state is at version ${BASE} \\(2023.*Z\\), which is newer`,
        ),
      ),
    ])
    expect(existsSync(bed.at('other/data.mdb'))).toBe(false)
    expect(await bed.info('store')).toMatchObject({ base_version: String(BASE), ledger_version: held })
  })

  it('names the server that answers instead of the bucket', async () => {
    bucket.lists = false
    expect((await ingesting('store', '--since', '0').outcome()).stderr).toMatch(/cannot be listed without credentials/)
    bucket.faultOf = () => htmlPage
    expect((await ingesting('store', '--since', '0').outcome()).stderr).toMatch(/found a page in HTML/)
  })

  it('refuses a bucket of another chain than it is said to be', async () => {
    const network = writeOwnNetwork(bed.at('mine.json'), { chainId: 7, waypoints: [WAYPOINT] })
    const words = ['ingest', 's3://bucket/e1', '--data-dir', bed.at('store'), '--network', network]
    const program = new RunningProgram([...words, '--since', String(BASE)], { cwd: bed.folder, env })
    const { status, stderr } = await program.outcome()
    expect([status, stderr]).toEqual([1, expect.stringMatching(/chain 42.*7|7.*chain 42/)])
  })
})

describe('ingest --only FILE of a window in a bucket', () => {
  it('keeps the part that the same window of a folder gives, fetches the state as often as it is read, and continues', async () => {
    const account = `0x${'40'.repeat(32)}`
    writeFileSync(bed.at('slice.txt'), `# one account, and its table\n${account}\ntable ${account}\n`)
    const window = ['--since', String(BASE), '--waypoint', WAYPOINT]
    const only = ['--only', bed.at('slice.txt')]
    expect(bed.ingest(bed.at('bucket/e1'), 'whole', ...window).status).toBe(0)
    expect(bed.ingest(bed.at('bucket/e1'), 'part of folder', ...window, ...only).status).toBe(0)
    const { status, stderr } = await ingesting(
      'part',
      ...window.slice(0, 2),
      ...only,
      '--to',
      String(LAST - 40),
    ).outcome()
    expect([status, stderr]).toEqual([0, expect.stringMatching(/ingested: /)])
    const readState = fetched().filter((key) => /state_epoch.*chunk/.test(key))
    expect(readState.length).toBeGreaterThan(2 * new Set(readState).size - 1)
    expect(readdirSync(bed.at('part/sources')).filter((name) => name.startsWith('ledger-state-fetching-'))).toEqual([])
    // The store knows which part it keeps: the second run need not name it, and may not change it.
    writeFileSync(bed.at('other.txt'), `0x${'41'.repeat(32)}\n`)
    const other = await ingesting('part', ...window.slice(0, 2), '--only', bed.at('other.txt')).outcome()
    expect([other.status, other.stderr]).toEqual([expect.any(Number), expect.stringMatching(/slice/)])
    expect(other.status).not.toBe(0)
    expect((await ingesting('part', ...window.slice(0, 2)).outcome()).status).toBe(0)
    const [part, whole] = [await newestOf('part'), await newestOf('whole')]
    expect(part).toEqual(await newestOf('part of folder'))
    expectSlice(part, whole, account)
    expect(await bed.info('part')).toMatchObject({ base_version: String(BASE), signed_version: String(LAST) })
    const missing = await ingesting('none', ...window.slice(0, 2), '--only', bed.at('absent.txt')).outcome()
    expect([missing.status, missing.stderr]).toEqual([2, expect.stringMatching(/^ledger-state: .*absent\.txt.*\n$/)])
  })
})

describe('ingest --keep-chunks', () => {
  it('keeps a backup that a node serves to others, which need no bucket', async () => {
    const window = ['--since', String(BASE)]
    const first = await ingesting('store', ...window, '--keep-chunks', bed.at('kept')).outcome()
    expect([first.status, first.stderr]).toEqual([0, expect.stringMatching(/ingested: /)])
    await bucket.close()
    const served = ['--serve-feed', '127.0.0.1:0', '--serve-backup', bed.at('kept')]
    const { program } = await bed.serve('serve', '--data-dir', bed.at('store'), ...served)
    const output = await program.outputMatching(/serving replicas on (http:[^\s"]+)/)
    const url = /serving replicas on (http:[^\s"]+)/.exec(output)![1]!
    // The bucket that the network names no longer exists.
    const network = writeOwnNetwork(bed.at('mine.json'), { waypoints: [WAYPOINT], backups: ['s3://bucket/e1'] })
    const ofNode = [...window, '--network', network, '--from-node', url]
    const run = (source: string) =>
      new RunningProgram(['ingest', source, '--data-dir', bed.at('other'), ...ofNode], {
        cwd: bed.folder,
        env,
      }).outcome()
    const refused = await run('s3://bucket/e1')
    expect([refused.status, refused.stderr]).toEqual([
      2,
      expect.stringMatching(/--from-node replaces the backups of a/),
    ])
    const second = await run('mine')
    expect([second.status, second.stderr]).toEqual([0, expect.stringMatching(/ingested: /)])
    expect(await bed.digest('other')).toBe(await bed.digest('store'))
    expect(await bed.info('other')).toMatchObject({ signed_version: String(LAST) })
    await expectSliceOfWindow(ofNode)
  })

  /** Starts a node that takes its window from another node, and keeps a slice of it, pruned. */
  async function expectSliceOfWindow(ofNode: readonly string[]): Promise<void> {
    const account = `0x${'40'.repeat(32)}`
    const part = ['--only-account', account, '--only-table', account, '--retain', '20']
    const { output, program } = await bed.serve('start', ...ofNode, '--data-dir', bed.at('part'), ...part)
    expect(output).toMatch(/to fetch: \d+ objects/)
    // A window begins with a block.
    const oldest = chain.expected.findLast(({ version, block }) => block && version <= BigInt(LAST - 19))!.version
    const wanted = [String(oldest), String(LAST)]
    let seen: unknown
    await eventually(
      async () => {
        const { oldest_ledger_version, ledger_version } = await bed.info('part')
        seen = [oldest_ledger_version, ledger_version]
        return isDeepStrictEqual(seen, wanted)
      },
      () => `versions ${wanted}, not ${seen}: ${program.output}`,
    )
    expect(await program.stop()).toBe(0)
    expect(await bed.info('part')).toMatchObject({ base_version: String(BASE), signed_version: String(LAST) })
    expectSlice(await newestOf('part'), await newestOf('store'), account)
  }
})

describe('ingest --since that is killed', () => {
  it('continues where it stopped, and fetches only unfinished transfers again', async () => {
    const held = 15 * CHUNK
    bucket.faultOf = ({ key }) => (new RegExp(`/${held}-\\.chunk`).test(key) ? silence : undefined)
    const killed = ingesting('store', '--since', String(BASE))
    await eventually(
      () => chunks().includes(held),
      () => `the chunk of ${held}; ${killed.output}`,
    )
    killed.child.kill('SIGKILL')
    await killed.ended
    const { ledger_version } = await bed.info('store').catch(() => ({ ledger_version: '0' }))
    expect(
      readdirSync(bed.at('store/sources')).filter((name) => name.startsWith('ledger-state-fetching-')).length,
    ).toBe(1)
    bucket.faultOf = () => undefined
    bucket.requests.length = 0
    const resumed = await ingesting('store', '--since', String(BASE)).outcome()
    expect([resumed.status, resumed.stderr]).toEqual([0, expect.stringMatching(/ingested: /)])
    expect(await bed.info('store')).toMatchObject({ base_version: String(BASE), ledger_version: String(LAST) })
    const kept = Number(ledger_version)
    expect(chunks().every((first) => first + CHUNK > kept)).toBe(true)
    expect(new Set(chunks()).size).toBe(chunks().length)
    expect(fetched().filter((key) => /\.meta|\.manifest/.test(key))).toEqual([])
    expect(readdirSync(bed.at('store/sources')).filter((name) => name.startsWith('ledger-state-fetching-'))).toEqual([])
  })
})
