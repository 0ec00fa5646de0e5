import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { startBucketServer } from '@ledger-state/feed/testing/bucket-server'
import { eventually } from '@ledger-state/testing/eventually'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { CommandBed } from '../../testing/command-bed.ts'

let bed: CommandBed
let server: Server | undefined
beforeEach(() => {
  bed = new CommandBed()
})
afterEach(async () => {
  server?.closeAllConnections()
  server?.close()
  await bed.close()
})

/** Serves a folder, and holds the second half of segment files back as long as `isHeld`. */
async function serve(folder: string): Promise<{ url: string; state: { isHeld: boolean } }> {
  const state = { isHeld: false }
  server = createServer((request, response) => {
    const path = join(folder, request.url!.split('/').at(-1)!)
    if (!existsSync(path)) return response.writeHead(404).end()
    const file = readFileSync(path)
    const from = Number(/^bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0)
    response.writeHead(from > 0 ? 206 : 200, {
      'content-length': file.length - from,
      ...(from > 0 && { 'content-range': `bytes ${from}-${file.length - 1}/${file.length}` }),
    })
    const isWhole = !state.isHeld || !path.includes('segment-')
    if (isWhole) return response.end(file.subarray(from))
    return response.write(file.subarray(from, Math.max(from, file.length >> 1)))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mainnet`, state }
}

it('a store is pushed into a bucket, with the account of the environment', async () => {
  await bed.fill('store', 60)
  mkdirSync(bed.at('cloud'))
  const bucket = await startBucketServer(bed.at('cloud'))
  const account = { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'secret' }
  const env = { AWS_ENDPOINT_URL_S3: bucket.origin, ...account }
  for (const files of ['[1-9]', '0']) {
    const pushed = await bed.startWith(env, 'segments', 'push', 's3://bucket/main', '--data-dir', 'store').outcome()
    expect(pushed).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(new RegExp(`^s3://bucket/main has versions 0 to .*: ${files}\\d* new files?`)),
    })
  }
  const fetched = await bed
    .startWith(env, 'segments', 'fetch', 's3://bucket/main', '--data-dir', 'from-bucket')
    .outcome()
  expect(fetched).toMatchObject({ status: 0 })
  await bucket.close()
})

it('a store is pushed, verified and fetched by commands; a killed fetch is resumed by the same command', async () => {
  await bed.fill('store', 200)
  const pushed = await bed.run('segments', 'push', 'shared', '--data-dir', 'store')
  expect(pushed).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(
      /^shared has versions 0 to \d+ of chain \d+ in \d+ files?, .*KiB: \d+ new files?, .*KiB \(/,
    ),
  })
  expect(await bed.run('segments', 'verify', 'shared')).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/^sound: versions 0 to .* match the manifest/),
  })
  const { url, state } = await serve(bed.at('shared'))
  state.isHeld = true
  const killed = bed.start('segments', 'fetch', url, '--data-dir', 'copy')
  const parts = () => readdirSync(bed.at('copy.unfinished')).filter((name) => name.endsWith('.part'))
  await eventually(
    () => existsSync(bed.at('copy.unfinished')) && parts().length > 0,
    () => 'the first file has come in part',
  )
  await killed.stop('SIGKILL')
  expect(existsSync(bed.at('copy'))).toBe(false)
  state.isHeld = false
  const fetched = await bed.start('segments', 'fetch', url, '--data-dir', 'copy').outcome()
  expect(fetched).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(
      /^copy holds versions 0 to .*; ledger-state check --state-root --data-dir copy shows/,
    ),
  })
  expect(existsSync(bed.at('copy.unfinished'))).toBe(false)
  expect(await bed.run('check', '--data-dir', 'copy')).toMatchObject({ status: 0 })
  const again = await bed.start('segments', 'fetch', url, '--data-dir', 'copy').outcome()
  expect(again).toMatchObject({ status: 1, stderr: expect.stringMatching(/copy already holds a store/) })
  const nothing = await bed.run('segments', 'verify', 'store')
  expect(nothing).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/no manifest .* ledger-state segments push writes one/),
  })
  expect(await bed.run('segments', 'push', 'https://host/x', '--data-dir', 'store')).toMatchObject({ status: 2 })
})
