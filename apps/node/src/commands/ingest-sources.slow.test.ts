// Ingest of every kind of source, and export: accepted input, where it stops, and how it resumes.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import {
  type BucketServer,
  busy,
  cutAfter,
  htmlPage,
  startBucketServer,
} from '@ledger-state/feed/testing/bucket-server'
import { type StandInNode, startStandInNode } from '@ledger-state/feed/testing/stand-in-node'
import { restPage, SYNTHETIC_CHAIN_ID, SyntheticChain, writeBackup } from '@ledger-state/feed/testing/synthetic-chain'
import { eventually } from '@ledger-state/testing/eventually'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { CommandBed } from '../../testing/command-bed.ts'
import { NodeProcess } from '../../testing/node-process.ts'
import { RunningProgram } from '../../testing/program.ts'
import { startTunnellingProxy } from '../../testing/tunnelling-proxy.ts'

const chain = new SyntheticChain({ blocks: 60 })
const LAST = Number(chain.latestVersion)
const SNAPSHOT = chain.records.findLastIndex(({ info }, version) => version < 150 && info[9] === 0 && info[106] === 1)

let bed: CommandBed
let node: StandInNode | undefined
beforeEach(() => {
  bed = new CommandBed()
})
afterEach(async () => {
  await bed.close()
  await node?.close()
  node = undefined
})

describe('the ingest of a genesis', () => {
  it('prints the waypoint, and refuses another one', async () => {
    writeFileSync(bed.at('genesis.blob'), chain.genesisBlob)
    const { stderr, status } = bed.run('ingest', bed.at('genesis.blob'), '--dry-run')
    expect([status, stderr]).toEqual([
      0,
      expect.stringMatching(
        /^.*genesis.blob is not verified: its chain 42 is not a known network.*\nsound: 1 versions \(0 to 0\).*waypoint 0:[0-9a-f]{64}/,
      ),
    ])
    const waypoint = /waypoint (0:[0-9a-f]{64})/.exec(stderr)![1]!
    const other = `0:${'ab'.repeat(32)}`
    expect(bed.ingest(bed.at('genesis.blob'), 'store', '--waypoint', other)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining(`has the waypoint ${waypoint}, not ${other}`),
    })
    expect(bed.ingest(bed.at('genesis.blob'), 'store', '--waypoint', waypoint).status).toBe(0)
    expect(await bed.info('store')).toMatchObject({ base: 'genesis', base_version: '0', chain_id: SYNTHETIC_CHAIN_ID })
    writeBackup(chain, bed.at('backup'))
    // The backup has no epoch changes.
    expect(bed.ingest(bed.at('backup'), 'store', '--waypoint', waypoint).stderr).toMatch(
      /the backup in .* cannot be verified.* --unsigned/,
    )
  })

  it.skipIf(!hasSharedData)('is proven against the published waypoint', () => {
    const published = readFileSync(sharedPath('data/genesis/mainnet.waypoint.txt'), 'utf8').trim()
    const blob = sharedPath('data/genesis/mainnet.genesis.blob')
    expect(bed.ingest(blob, 'store', '--waypoint', published).status).toBe(0)
  })
})

describe.skipIf(!hasSharedData)('the ingest of the genesis of mainnet without --waypoint', () => {
  it('is proven, and refuses one flipped bit', () => {
    const blob = readFileSync(sharedPath('data/genesis/mainnet.genesis.blob'))
    writeFileSync(bed.at('genesis.blob'), blob)
    expect(bed.ingest(bed.at('genesis.blob'), 'store')).toMatchObject({
      status: 0,
      stderr: expect.not.stringContaining('vouches'),
    })
    // Changes the last byte of a value in the middle.
    blob[blob.indexOf('CurrentTimeMicroseconds') + 'CurrentTimeMicroseconds'.length + 3]! ^= 1
    writeFileSync(bed.at('genesis.blob'), blob)
    expect(bed.ingest(bed.at('genesis.blob'), 'other')).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(
        /the genesis of chain 1 \(mainnet\), but its waypoint is 0:[0-9a-f]{64}, not 0:6072b68a/,
      ),
    })
  })
})

describe.skipIf(!hasSharedData)('the ingest of a signed backup (skipped without ../shared)', () => {
  const made = () => sharedPath('data/epochs/made')
  const facts = () =>
    JSON.parse(readFileSync(join(made(), 'facts.json'), 'utf8')) as { readonly genesis_waypoint: string }

  it('says who signed it, refuses tampered copies, and audits only the epoch changes', async () => {
    const waypoint = facts().genesis_waypoint
    expect(bed.ingest(made(), 'store', '--waypoint', waypoint)).toMatchObject({ status: 0 })
    const signed = { signed_version: '247', signed_epoch: '8', signed_power: '80', total_power: '90' }
    expect(await bed.info('store')).toMatchObject({ waypoint, ...signed })
    expect(bed.run('info', '--data-dir', bed.at('store')).stdout).toContain(
      `to version 247, by 80 of 90 of the voting power of epoch 8, from the waypoint ${waypoint}`,
    )
    for (const variant of readdirSync(join(made(), 'variants'))) {
      cpSync(made(), bed.at(variant), { recursive: true })
      cpSync(join(made(), 'variants', variant), bed.at(variant), { recursive: true, force: true })
      expect(bed.ingest(bed.at(variant), `store of ${variant}`, '--waypoint', waypoint)).toMatchObject({
        status: 1,
        stderr: expect.stringMatching(/0-\.chunk\.gz, record \d: epoch \d /),
      })
    }
    const chain = sharedPath('data/epochs/chain-a')
    const trusted = readFileSync(join(chain, 'waypoint.txt'), 'utf8').trim()
    const audit = bed.run('ingest', chain, '--dry-run', '--hash-salt', 'DIEM::', '--waypoint', trusted)
    expect(audit).toMatchObject({
      status: 0,
      stderr: expect.stringContaining('the epochs up to 64 are verified from the waypoint'),
    })
  })

  it('claims nothing about a backup that no waypoint verifies', async () => {
    const outcome = bed.ingest(made(), 'store')
    expect(outcome.stderr).toContain(`compare its first waypoint ${facts().genesis_waypoint}`)
    expect(await bed.info('store')).toMatchObject({ waypoint: null, signed_version: null })
    expect(bed.ingest(made(), 'store', '--unsigned', '--waypoint', facts().genesis_waypoint)).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('contradict'),
    })
  })
})

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

describe('a backup in a bucket', () => {
  let bucket: BucketServer
  let env: NodeJS.ProcessEnv
  beforeEach(async () => {
    mkdirSync(bed.at('bucket/e1'), { recursive: true })
    mkdirSync(bed.at('copies'))
    writeBackup(chain, bed.at('bucket/e1'), { chunk: 20, snapshot: { version: SNAPSHOT, chunk: 20 } })
    bucket = await startBucketServer(bed.at('bucket'), { pageSize: 2 })
    env = { AWS_ENDPOINT_URL: bucket.origin, STORAGE_EMULATOR_HOST: bucket.origin, TMPDIR: bed.at('copies') }
  })
  afterEach(() => bucket.close())

  const ingest = (source: string, store: string) =>
    new RunningProgram(['ingest', source, '--data-dir', bed.at(store)], { cwd: bed.folder, env })

  it('gives the store that its folder gives, whatever it is named by and fails on the way', async () => {
    bed.ingest(bed.at('bucket/e1'), 'whole')
    const whole = await bed.digest('whole')
    bucket.faultOf = ({ before, isListing }) => (before > 0 ? undefined : isListing ? busy(503, '0') : cutAfter(20))
    for (const [at, source] of ['s3://bucket/e1', 'gs://bucket/e1/', `${bucket.url}/e1`].entries()) {
      const { status, stderr } = await ingest(source, `store-${at}`).outcome()
      expect([status, stderr]).toEqual([0, expect.stringMatching(/ingested: .* from the transaction backup/)])
      expect(await bed.digest(`store-${at}`)).toBe(whole)
    }
    expect(readdirSync(bed.at('copies')).filter((name) => name.startsWith('ledger-state-'))).toEqual([])
  })

  it('has a state snapshot that is ingested, and the transactions after it', async () => {
    const folder = readdirSync(bed.at('bucket/e1')).find((name) => name.startsWith('state_'))!
    for (const source of [`s3://bucket/e1/${folder}`, 's3://bucket/e1']) {
      expect((await ingest(source, 'store').outcome()).status).toBe(0)
    }
    expect(await bed.info('store')).toMatchObject({ base_version: String(SNAPSHOT), ledger_version: String(LAST) })
  })

  it('is left while the server is busy when the ingest is stopped, and resumed', async () => {
    bucket.faultOf = ({ key }) => (/\/80-\.chunk/.test(key) ? busy(503, '100') : undefined)
    const stopped = ingest('s3://bucket/e1', 'store')
    await stopped.outputMatching(/80-\.chunk\.gz: status 503, SlowDown; asking again in 100\.0 s/)
    expect(await stopped.stop()).toBe(143)
    expect(stopped.output).toMatch(/stopped by SIGTERM: .*run the same command again to resume/)
    bucket.faultOf = () => undefined
    expect((await ingest('s3://bucket/e1', 'store').outcome()).status).toBe(0)
    expect((await bed.info('store')).ledger_version).toBe(String(LAST))
  })

  it('is fetched through the proxy that the environment names, and an answer of the proxy is an error', async () => {
    const proxy = await startTunnellingProxy(bucket.origin)
    onTestFinished(() => proxy.close())
    writeFileSync(bed.at('authority.pem'), proxy.authority)
    // No server listens at this address, so only the proxy can answer.
    const source = 'https://127.0.0.1:444/bucket/e1'
    env = { ...env, HTTPS_PROXY: proxy.url, NODE_EXTRA_CA_CERTS: bed.at('authority.pem') }
    const fetched = await ingest(source, 'store').outcome()
    expect([fetched.status, fetched.stderr]).toEqual([0, expect.stringMatching(/ingested: /)])
    expect((await bed.info('store')).ledger_version).toBe(String(LAST))
    expect(new Set(proxy.tunnels)).toEqual(new Set(['127.0.0.1:444']))
    bucket.faultOf = () => htmlPage
    expect(await ingest(source, 'other').outcome()).toEqual({
      ...{ status: 1, stdout: '' },
      stderr: expect.stringMatching(/^ledger-state: .*HTML.*\n$/),
    })
    env = { ...env, HTTPS_PROXY: 'http://[' }
    expect(await ingest(source, 'other').outcome()).toMatchObject({
      status: 2,
      stderr: 'ledger-state: HTTPS_PROXY=http://[ is not the URL of a proxy, such as http://proxy.example:3128\n',
    })
    expect(existsSync(bed.at('other'))).toBe(false)
  })

  it('that does not exist is an error in one line, and leaves no store', async () => {
    const { status, stderr } = await ingest('s3://buckets/e1', 'store').outcome()
    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(/^ledger-state: there is no bucket at \S+\/buckets; its name.*\n$/),
    ])
    expect(existsSync(bed.at('store'))).toBe(false)
  })
})

describe('a node as a source', () => {
  it('is ingested up to its newest version, then followed, and all of it is durable at the stop', async () => {
    node = await startStandInNode(chain)
    node.latest = 60
    expect(await bed.start('ingest', node.url, '--data-dir', bed.at('store')).ended).toBe(0)
    expect((await bed.info('store')).ledger_version).toBe('60')
    const follower = bed.start('ingest', node.url, '--data-dir', bed.at('store'), '--follow')
    for (const latest of [61, 90, LAST]) {
      node.latest = latest
      await eventually(
        async () => (await bed.info('store')).ledger_version === String(latest),
        () => follower.output,
      )
    }
    expect(await follower.stop()).toBe(0)
    writeBackup(chain, bed.at('backup'))
    bed.ingest(bed.at('backup'), 'whole')
    expect(await bed.digest('store')).toBe(await bed.digest('whole'))
  })

  it('is followed through broken answers, with one line printed for each', async () => {
    node = await startStandInNode(chain)
    node.latest = 60
    const follower = bed.start('ingest', node.url, '--data-dir', bed.at('store'), '--follow')
    await eventually(
      async () => (await bed.info('store')).ledger_version === '60',
      () => follower.output,
    )
    const page = Buffer.from(restPage(chain, 60, 50))
    page[page.length >> 1]! ^= 1
    const bcs = (response: ServerResponse) => response.setHeader('content-type', 'application/x-bcs')
    for (let broken = 0; broken < 2; broken++) node.faults.push((_, response) => bcs(response).end(page))
    node.faults.push((_, response) => response.end('<html>maintenance</html>'))
    node.latest = LAST
    await eventually(
      async () => (await bed.info('store')).ledger_version === String(LAST),
      () => follower.output,
    )
    expect(await follower.stop()).toBe(0)
    expect(follower.output.match(/; asking again in .* s; if it lasts, use another node\n/g)?.length).toBe(3)
  })

  it('is left at the end of a block when the ingest is stopped', async () => {
    const long = new SyntheticChain({ blocks: 250 })
    const served = await startStandInNode(long)
    node = served
    const follower = bed.start('ingest', served.url, '--data-dir', bed.at('store'), '--follow')
    await eventually(
      () => served.starts.length >= 3,
      () => `three pages: ${follower.output}`,
    )
    expect(await follower.stop()).toBe(0)
    const version = Number((await bed.info('store')).ledger_version)
    expect(version === Number(long.latestVersion) || long.expected[version + 1]!.block !== undefined).toBe(true)
  })

  it('is reported as an error at once when it answers 404 to everything', async () => {
    node = await startStandInNode(chain)
    const notFound: StandInNode['faults'][number] = (_, response) => {
      response.statusCode = 404
      response.end('not here')
    }
    node.faults.push(notFound)
    const follower = bed.start('ingest', node.url, '--data-dir', bed.at('store'), '--follow')
    expect(await follower.ended).toBe(1)
    expect(follower.output).toMatch(/is not the API of a node: .* found status 404/)
  })

  it('is followed while the store is served, and dropped when it is on a fork', async () => {
    node = await startStandInNode(chain)
    node.latest = 40
    writeFileSync(bed.at('genesis.blob'), chain.genesisBlob)
    bed.ingest(bed.at('genesis.blob'), 'store')
    const served = new NodeProcess({ dataDir: bed.at('store'), options: ['--follow', node.url] })
    onTestFinished(() => served.killAll())
    await served.listening()
    await eventually(
      async () => (await served.version()) === 40,
      () => served.output,
    )
    node.latest = 80
    await eventually(
      async () => (await served.version()) === 80,
      () => served.output,
    )
    node.chain = new SyntheticChain({ blocks: 60, seed: 4 })
    node.latest = LAST
    await served.outputMatching(/"code":"ledger_fork".*writer gives up: /)
    expect(await served.version()).toBeGreaterThanOrEqual(80)
    expect(await served.metrics()).toMatch(/process_state\{process="writer",state="given-up"\} 1/)
    expect(await served.stop()).toBe(0)
  })

  it('continues where a backup ended, and is refused when it is on a fork', async () => {
    writeBackup(chain, bed.at('backup'))
    bed.ingest(bed.at('backup'), 'store', '--to', '70')
    node = await startStandInNode(new SyntheticChain({ blocks: 60, seed: 3 }))
    const refused = bed.start('ingest', node.url, '--data-dir', bed.at('store'))
    expect(await refused.ended).toBe(1)
    expect(refused.output).toMatch(/fork/)
    expect((await bed.info('store')).ledger_version).toBe('70')
    node.chain = chain
    node.latest = LAST
    expect(await bed.start('ingest', node.url, '--data-dir', bed.at('store')).ended).toBe(0)
    expect((await bed.info('store')).ledger_version).toBe(String(LAST))
  })
})

describe('the command `export`', () => {
  it('refuses unknown formats, versions in the wrong order, and versions that do not exist', () => {
    writeBackup(chain, bed.at('backup'))
    bed.ingest(bed.at('backup'), 'store')
    for (const [options, status, message] of [
      [['--format', 'csv'], 2, /"csv" is not one of feed, parquet/],
      [['--from', '50', '--to', '40'], 2, /--from 50 is above --to 40/],
      [['--to', '9999'], 1, /Ledger version not found/],
    ] as const) {
      expect(bed.run('export', bed.at('x'), '--data-dir', bed.at('store'), ...options)).toMatchObject({
        status,
        stderr: expect.stringMatching(message),
      })
      expect([existsSync(bed.at('x')), existsSync(bed.at('x.unfinished'))]).toEqual([false, false])
    }
  })

  it('writes feeds that ingest reads, compressed as their file names say', async () => {
    writeBackup(chain, bed.at('backup'))
    bed.ingest(bed.at('backup'), 'whole', '--retain', '100')
    const whole = await bed.digest('whole')
    for (const name of ['feed.ndjson', 'feed.ndjson.gz', 'feed.ndjson.zst']) {
      const { status, stderr } = bed.run('export', bed.at(name), '--data-dir', bed.at('whole'), '--format', 'feed')
      expect([status, stderr]).toEqual([
        0,
        expect.stringMatching(/holds the state at version \d+ \(\d+ entries\) and the \d+ versions after it/),
      ])
      expect(existsSync(bed.at(`${name}.unfinished`))).toBe(false)
      expect(bed.ingest(bed.at(name), `copy of ${name}`).status).toBe(0)
      expect(await bed.digest(`copy of ${name}`)).toBe(whole)
    }
    expect(bed.run('ingest', bed.at('feed.ndjson.gz'), '--dry-run').stderr).toMatch(/^read without proofs: a state of/)
  })
})
