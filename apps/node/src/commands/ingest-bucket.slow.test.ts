// Ingest of a backup in a bucket: names, faults, proxies, and how it resumes.
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import {
  type BucketServer,
  busy,
  cutAfter,
  htmlPage,
  startBucketServer,
} from '@ledger-state/feed/testing/bucket-server'
import { SyntheticChain, writeBackup } from '@ledger-state/feed/testing/synthetic-chain'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { CommandBed } from '../../testing/command-bed.ts'
import { RunningProgram } from '../../testing/program.ts'
import { startTunnellingProxy } from '../../testing/tunnelling-proxy.ts'

const chain = new SyntheticChain({ blocks: 60 })
const LAST = Number(chain.latestVersion)
const SNAPSHOT = chain.records.findLastIndex(({ info }, version) => version < 150 && info[9] === 0 && info[106] === 1)

let bed: CommandBed
beforeEach(() => {
  bed = new CommandBed()
})
afterEach(() => bed.close())

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

  it('is not followed, however it is named', async () => {
    for (const source of ['s3://bucket/e1', `${bucket.url}/e1`]) {
      const words = ['ingest', source, '--follow', '--data-dir', bed.at('store')]
      expect(await new RunningProgram(words, { cwd: bed.folder, env }).outcome()).toEqual({
        status: 2,
        stdout: '',
        stderr: expect.stringContaining(
          `feed of another Ledger State node, and "${source}" is neither: ingest it without`,
        ),
      })
    }
    expect(existsSync(bed.at('store/data.mdb'))).toBe(false)
  })

  it('is not followed by a node that serves', async () => {
    bed.ingest(bed.at('bucket/e1'), 'store')
    const addresses = ['--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0']
    const words = ['serve', ...addresses, '--follow', `${bucket.url}/e1`, '--data-dir', bed.at('store')]
    const node = new RunningProgram(words, { cwd: bed.folder, env })
    await node.outputMatching(/writer gives up: .*feed of another Ledger State node/)
    expect(await node.stop()).toBe(0)
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
