// A network by its name: a node serves a window of a backup while it fills, follows a node, and becomes signed.
import { once } from 'node:events'
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { listStateTrees } from '@ledger-state/feed'
import { type BucketServer, type Fault, startBucketServer } from '@ledger-state/feed/testing/bucket-server'
import { type StandInNode, startStandInNode } from '@ledger-state/feed/testing/stand-in-node'
import { SyntheticChain, writeBackup } from '@ledger-state/feed/testing/synthetic-chain'
import { signedLedgerInfo, waypointHash, writeEndings } from '@ledger-state/feed/testing/synthetic-epochs'
import { type ReadQuestion, readProofFrom, verifyRead } from '@ledger-state/light-client'
import { eventually } from '@ledger-state/testing/eventually'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CommandBed } from '../../testing/command-bed.ts'
import { writeOwnNetwork } from '../../testing/own-network.ts'
import type { RunningProgram } from '../../testing/program.ts'

let bed: CommandBed
let bucket: BucketServer
let node: StandInNode
let chain: SyntheticChain
beforeEach(async () => {
  bed = new CommandBed()
  chain = new SyntheticChain({ blocks: 60, signers: true })
  mkdirSync(bed.at('bucket/e1'), { recursive: true })
  bucket = await startBucketServer(bed.at('bucket'))
  node = await startStandInNode(chain)
})
afterEach(async () => {
  await bed.close()
  await bucket.close()
  await node.close()
})

const root = () => bed.at('bucket/e1')

/** Writes the epoch changes that the chain has, in folders that begin with the given epochs. */
function writeAllEndings(splits: readonly number[]): void {
  for (const name of readdirSync(root()))
    if (name.startsWith('epoch_ending_')) rmSync(join(root(), name), { recursive: true })
  writeEndings(root(), chain.endings().map(signedLedgerInfo), splits)
}

/** Describes the network in a file. */
function ownNetwork(backups = [`${bucket.url}/e1`]): string {
  const waypoints = [`0:${waypointHash(chain.endings()[0]!)}`]
  return writeOwnNetwork(bed.at('mine.json'), { waypoints, backups, nodes: [node.url] })
}

async function storeReaches(
  program: RunningProgram,
  version: bigint,
  member: 'ledger_version' | 'signed_version',
): Promise<void> {
  let seen = ''
  await eventually(
    async () => {
      seen = String((await bed.info('store').catch(() => undefined))?.[member])
      return seen === String(version)
    },
    () => `${member} ${version}; it is ${seen}: ${program.output}`,
  )
}

/**
 * Time limit of a wait for a tree: a node rests nine times as long as the last tree took, half a minute on a busy
 * machine.
 */
const PATIENT_REST_MS = 900_000

/** Waits until a node has proofs at exactly one version. */
async function provesAt(address: string, program: RunningProgram, version: bigint): Promise<void> {
  let seen = ''
  await eventually(
    async () => {
      const trust = (await (await fetch(`${address}/v1/-/trust`)).json()) as { proof_versions: readonly string[] }
      seen = trust.proof_versions.join(' ')
      return seen === String(version)
    },
    () => `proofs at version ${version}; they are at ${seen || 'none'}: ${program.output}`,
    PATIENT_REST_MS,
  )
}

/** Verifies values of the chain at a version, as a client does that trusts its first waypoint. */
async function accepts(address: string, version: bigint): Promise<void> {
  const waypoint = `0:${waypointHash(chain.endings()[0]!)}`
  const question: ReadQuestion = { kind: 'account', address: '0x1' }
  const query = `ledger_version=${version}&proof=true&proof_from=${waypoint}`
  const answer = await (await fetch(`${address}/v1/accounts/0x1?${query}`)).text()
  const verified = await verifyRead(answer, { question, version, waypoint, readProof: readProofFrom(`${address}/v1`) })
  expect(verified.signers).toMatchObject({ epoch: chain.epoch })
}

describe('start --network --since', () => {
  it('follows the node that the description of its network names since SIGHUP', async () => {
    writeBackup(chain, root(), { chunk: 20, snapshot: { version: Number(chain.endings()[3]!.version), chunk: 20 } })
    writeAllEndings([0])
    const waypoints = [`0:${waypointHash(chain.endings()[0]!)}`]
    const backups = [`${bucket.url}/e1`]
    const begun = chain.latestVersion
    chain.extend(5)
    node.latest = Number(chain.latestVersion)
    const configuration = bed.at('node.json')
    const configure = (network: string | undefined) => writeFileSync(configuration, JSON.stringify({ network }))
    const networkOf = (name: string, nodes: readonly string[]) =>
      writeOwnNetwork(bed.at(name), { waypoints, backups, nodes: [...nodes] })
    configure(networkOf('gone.json', ['http://127.0.0.1:9/v1']))
    const words = ['start', '--config', configuration, '--since', String(chain.endings()[3]!.version)]
    const { program } = await bed.serve(...words, '--data-dir', bed.at('store'))
    await storeReaches(program, begun, 'ledger_version')
    configure(undefined)
    program.child.kill('SIGHUP')
    await program.outputMatching(/SIGHUP: no setting was changed: .*--network was removed/)
    configure(networkOf('moved.json', [node.url]))
    program.child.kill('SIGHUP')
    await program.outputMatching(/SIGHUP: network changed/)
    await storeReaches(program, chain.latestVersion, 'ledger_version')
  })

  it('serves the window after a mirror that is gone, follows the node of the network, and becomes signed as the backup grows', {
    timeout: 2 * PATIENT_REST_MS,
  }, async () => {
    const base = Number(chain.endings()[3]!.version)
    writeBackup(chain, root(), { chunk: 20, snapshot: { version: base, chunk: 20 } })
    writeAllEndings([0])
    const epochs = chain.endings().length
    const signedAtFirst = chain.latestVersion
    chain.extend(20)
    node.latest = Number(chain.latestVersion)
    const file = ownNetwork([`${bucket.origin}/absent/e1`, `${bucket.url}/e1`])
    const words = ['start', '--network', file, '--since', String(base), '--data-dir', bed.at('store')]
    const { address, output, program } = await bed.serve(...words, '--backup-interval', '15')
    expect(output).toMatch(/absent.* cannot be used: there is no bucket at .*; using the next backup of the network/)
    expect(output).toMatch(/to fetch: \d+ objects/)
    await storeReaches(program, chain.latestVersion, 'ledger_version')
    expect(await bed.info('store')).toMatchObject({
      base_version: String(base),
      signed_version: String(signedAtFirst),
    })
    const trust = await (await fetch(`${address}/v1/-/trust`)).json()
    expect(trust).toMatchObject({ network: 'mine', signed_version: String(signedAtFirst) })
    await provesAt(address, program, signedAtFirst)
    const signedOnly = await bed.serve('serve', '--data-dir', bed.at('store'), '--require-signed')
    const served = async () => (await (await fetch(`${signedOnly.address}/v1`)).json()) as { ledger_version: string }
    expect(await served()).toMatchObject({ ledger_version: String(signedAtFirst) })
    const early = await fetch(`${address}/v1/accounts/0x1/resources?ledger_version=1`)
    expect([early.status, await early.text()]).toEqual([410, expect.stringContaining(node.url)])
    // The backup catches up.
    writeBackup(chain, root(), { chunk: 20, first: Number(signedAtFirst) + 1 })
    writeAllEndings([0, epochs])
    await storeReaches(program, chain.latestVersion, 'signed_version')
    await provesAt(address, program, chain.latestVersion)
    await accepts(address, chain.latestVersion)
    await eventually(
      async () => (await served()).ledger_version === String(chain.latestVersion),
      () => `the newest signed version: ${signedOnly.program.output}`,
    )
    // The node is still followed.
    chain.extend(5)
    node.latest = Number(chain.latestVersion)
    await storeReaches(program, chain.latestVersion, 'ledger_version')
  })

  it('keeps a slice of the window and of later versions, as far as the whole is signed', async () => {
    const base = Number(chain.endings()[3]!.version)
    writeBackup(chain, root(), { chunk: 20, snapshot: { version: base, chunk: 20 } })
    writeAllEndings([0])
    const signed = chain.latestVersion
    chain.extend(5)
    node.latest = Number(chain.latestVersion)
    const words = ['start', '--network', ownNetwork(), '--since', String(base), '--data-dir', bed.at('store')]
    const { address, program } = await bed.serve(...words, '--only-account', '0xcafe')
    await storeReaches(program, chain.latestVersion, 'ledger_version')
    expect(await bed.info('store')).toMatchObject({ base_version: String(base), signed_version: String(signed) })
    const slice = (await (await fetch(`${address}/v1/-/slice`)).json()) as {
      left_out: { keys: number; writes: number }
    }
    expect(slice).toMatchObject({ asked: { accounts: 1, tables: 0, types: [] } })
    expect(Math.min(slice.left_out.keys, slice.left_out.writes)).toBeGreaterThan(0)
    const outside = await fetch(`${address}/v1/accounts/0xbeef/resources`)
    expect([outside.status, await outside.text()]).toEqual([
      410,
      expect.stringContaining('ingest with --only-account 0xbeef to keep it'),
    ])
  })

  it('serves since the first block while the window is being filled, and names a source of the versions before it', async () => {
    const base = Number(chain.endings()[3]!.version)
    writeBackup(chain, root(), { chunk: 20, snapshot: { version: base, chunk: 20 } })
    writeAllEndings([0])
    node.latest = Number(chain.latestVersion)
    const held: ServerResponse[] = []
    const isLate = (key: string): boolean => Number(/transaction_.*\/(\d+)-\.chunk/.exec(key)?.[1]) > base + 40
    const hold: Fault = (_, response) => held.push(response) > 0
    bucket.faultOf = ({ key }) => (isLate(key) ? hold : undefined)
    const words = ['start', '--network', ownNetwork(), '--since', String(base), '--data-dir', bed.at('store')]
    const { address, program } = await bed.serve(...words)
    const read = async (version: number): Promise<readonly [number, string]> => {
      // The made-up chain has no modules, by which resources would become JSON.
      const headers = { accept: 'application/x-bcs' }
      const answer = await fetch(`${address}/v1/accounts/0x1/resources?ledger_version=${version}`, { headers })
      return [answer.status, await answer.text()]
    }
    let seen: readonly [number, string] = [0, '']
    await eventually(
      async () => {
        seen = await read(base)
        return seen[0] === 200
      },
      () => `the first block; ${seen.join(' ')}: ${program.output}`,
    )
    expect(BigInt((await bed.info('store')).ledger_version as string)).toBeLessThan(chain.latestVersion)
    expect(await read(base - 1)).toEqual([410, expect.stringContaining(node.url)])
    await eventually(
      () => held.length > 0,
      () => `the request for a chunk that is held: ${program.output}`,
    )
    bucket.faultOf = () => undefined
    for (const response of held) response.destroy()
    await storeReaches(program, chain.latestVersion, 'ledger_version')
  })

  it('makes no tree that would take more than a tenth of the disk, says so if a proof is asked for, and finds the one that is asked for', async () => {
    const base = Number(chain.endings()[3]!.version)
    chain.extendWithItems(16_000)
    writeBackup(chain, root(), { chunk: 20, snapshot: { version: base, chunk: 20 } })
    writeAllEndings([0])
    node.latest = Number(chain.latestVersion)
    const version = chain.latestVersion
    const store = ['--data-dir', bed.at('store')]
    const words = ['start', '--network', ownNetwork(), '--since', String(base), ...store]
    const { address, program } = await bed.serve(...words, '--backup-interval', '1')
    await storeReaches(program, version, 'signed_version')
    await eventually(
      () => program.output.includes(`no tree of the signed version ${version} is kept`),
      () => `the notice: ${program.output}`,
      120_000,
    )
    expect(program.output).toContain(
      'as it would take more than a tenth of the disk: `ledger-state trust keep-tree` makes it',
    )
    const read = () => fetch(`${address}/v1/accounts/0x1?ledger_version=${version}&proof=true`)
    const refused = await read()
    expect([refused.status, await refused.json()]).toEqual([
      400,
      expect.objectContaining({
        error_code: 'invalid_input',
        message: expect.stringContaining('cannot serve proofs'),
      }),
    ])
    expect(listStateTrees(bed.at('store'))).toEqual([])
    expect(bed.run('trust', 'keep-tree', ...store)).toMatchObject({ status: 0 })
    await provesAt(address, program, version)
    await accepts(address, version)
    expect((await read()).status).toBe(200)
  })

  it('follows the node although the backup is not sound any more, and takes signatures from it once it is repaired', async () => {
    const base = Number(chain.endings()[3]!.version)
    writeBackup(chain, root(), { chunk: 20, snapshot: { version: base, chunk: 20 } })
    writeAllEndings([0])
    const [epochs, signed] = [chain.endings().length, chain.latestVersion]
    const words = ['start', '--network', ownNetwork(), '--since', String(base), '--data-dir', bed.at('store')]
    const { program } = await bed.serve(...words, '--backup-interval', '1')
    await storeReaches(program, signed, 'signed_version')
    const follows = async (): Promise<void> => {
      chain.extend(8)
      node.latest = Number(chain.latestVersion)
      await storeReaches(program, chain.latestVersion, 'ledger_version')
    }
    const says = (text: RegExp): Promise<void> =>
      eventually(
        () => text.test(program.output),
        () => `${text}: ${program.output}`,
      )

    writeFileSync(join(root(), 'metadata/broken.meta'), 'nothing')
    await says(/the backup of the network cannot be used; trying again later: .*broken.meta, line 1/)
    await follows()
    rmSync(join(root(), 'metadata/broken.meta'))
    writeBackup(chain, root(), { chunk: 20, first: Number(signed) + 1 })
    await says(/the backup of the network cannot be used; trying again later: .* changes of epochs/)
    await follows()
    writeBackup(chain, root(), { chunk: 20, first: Number(signed) + 1 })
    writeAllEndings([0, epochs])
    await storeReaches(program, chain.latestVersion, 'signed_version')
  })

  it('follows a node that takes longer to answer than the interval between two looks into the backup', async () => {
    const base = Number(chain.endings()[3]!.version)
    writeBackup(chain, root(), { chunk: 20, snapshot: { version: base, chunk: 20 } })
    writeAllEndings([0])
    chain.extend(5)
    node.latest = Number(chain.latestVersion)
    node.latencyMs = 1_500
    const words = ['start', '--network', ownNetwork(), '--since', String(base), '--data-dir', bed.at('store')]
    const { program } = await bed.serve(...words, '--backup-interval', '1')
    await storeReaches(program, chain.latestVersion, 'ledger_version')
  })

  it('asks a node that does not answer once at a time, however often it looks into the backup meanwhile', async () => {
    const base = Number(chain.endings()[3]!.version)
    writeBackup(chain, root(), { chunk: 20, snapshot: { version: base, chunk: 20 } })
    writeAllEndings([0])
    let open = 0
    const silent = createServer((request) => {
      open++
      request.socket.once('close', () => open--)
    })
    await once(silent.listen(0, '127.0.0.1'), 'listening')
    try {
      const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/v1`
      const words = ['start', '--network', ownNetwork(), '--since', String(base), '--data-dir', bed.at('store')]
      const { program } = await bed.serve(...words, '--follow', url, '--backup-interval', '1')
      await program.outputMatching(/(?:the backup of the network is ingested.*){4}/s)
      await eventually(
        () => open <= 1,
        () => `one request at a time; there are ${open}`,
      )
    } finally {
      silent.closeAllConnections()
      silent.close()
    }
  })

  it('is refused before anything is served if the backup is of another chain or nothing is known', async () => {
    const refused = bed.run('start', '--network', 'devnet', '--since', '1d', '--data-dir', bed.at('store'))
    expect([refused.status, refused.stderr]).toEqual([
      1,
      'ledger-state: the network devnet has no backups; a --network file can name them in "backups"\n',
    ])
  })
})

describe('ledger-state networks', () => {
  it('lists backups and nodes', () => {
    expect(bed.run('networks').stdout).toMatch(
      /backup s3:\/\/aptos-mainnet-backup\S+\/e1\n.*node https:\/\/api\.mainnet/,
    )
  })
})
