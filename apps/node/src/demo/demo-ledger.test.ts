import { bytesToHex } from '@ledger-state/core'
import { expect, it } from 'vitest'
import { openDemoLedger } from './demo-ledger.js'

async function printed(): Promise<string[]> {
  const lines: string[] = []
  for await (const { version, writes } of openDemoLedger().versions({ version: undefined })) {
    const texts = writes.map(([key, value]) => `${bytesToHex(key)}=${value && bytesToHex(value)}`)
    lines.push(`${version} ${texts.join(' ')}`)
  }
  return lines
}

it('the demonstration ledger is the same each time', async () => {
  const first = await printed()
  expect(first.length).toBe(3_000)
  expect(await printed()).toEqual(first)
})
