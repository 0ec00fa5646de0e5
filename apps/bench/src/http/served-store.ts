import { writeModule } from '@ledger-state/move-module'
import { openStateEngine } from '@ledger-state/state-engine'
import { BUSY_ACCOUNT } from '@ledger-state/testing/hostile-clients'
import { HOSTILE_MODULES } from '@ledger-state/testing/hostile-types'
import { moduleKey, parseStructTag, resourceKey, tableItemKey } from '@ledger-state/type-tag'
import { dearViewModule } from './dear-views.ts'

/** Number of accounts, and of table items, in the store that is served. */
export const SERVED_KEYS = 20_000
export const ITEM_TABLE = '0x7'
export const ITEM_TYPE = '0xca::m::S'

const ITEM_MODULE = {
  version: 6,
  address: address(0xca),
  name: 'm',
  structs: [
    {
      kind: 'struct',
      name: 'S',
      abilities: 7,
      typeParameters: [],
      fields: [
        { name: 'amount', type: { kind: 'u64' } },
        { name: 'owner', type: { kind: 'address' } },
        { name: 'open', type: { kind: 'bool' } },
      ],
    },
  ],
} as const

/** Versions that change the balance of `BUSY_ACCOUNT`. */
const BUSY_VERSIONS = 1_000

/**
 * Makes the store that is served: accounts with a coin store each, a table of structs, the modules of all types, and an
 * account with a history.
 */
export async function writeServedStore(folder: string): Promise<void> {
  const engine = openStateEngine({ path: folder })
  const coinStore = parseStructTag('0x1::coin::CoinStore<0x1::aptos_coin::AptosCoin>')
  const writes = [ITEM_MODULE, ...HOSTILE_MODULES].map((module): [Uint8Array, Uint8Array] => [
    moduleKey(module.address, module.name),
    writeModule(module),
  ])
  writes.push([moduleKey(address(0x42), 'dear'), dearViewModule()])
  // Views need a gas schedule: its version, and no prices.
  writes.push([
    resourceKey(address(1), parseStructTag('0x1::gas_schedule::GasScheduleV2')),
    Buffer.concat([u64(45), Buffer.of(0)]),
  ])
  for (let at = 0; at < SERVED_KEYS; at++) {
    writes.push([resourceKey(account(at), coinStore), Buffer.concat([u64(at * 1_000_003), Buffer.alloc(97)])])
    writes.push([tableItemKey(address(7), u64(at)), Buffer.concat([u64(at * 7), account(at), Buffer.of(1)])])
  }
  await engine.commit([{ version: 0n, block: { height: 0n, epoch: 0n, timestampUsec: 0n }, writes }], { chainId: 4 })
  const busy = resourceKey(Buffer.from(BUSY_ACCOUNT, 'hex'), coinStore)
  const changes = Array.from({ length: BUSY_VERSIONS }, (_, at) => {
    const version = BigInt(at + 1)
    const coins = Buffer.concat([u64(at * 1_000_003), Buffer.alloc(97)])
    return { version, block: { height: version, epoch: 0n, timestampUsec: version }, writes: [[busy, coins] as const] }
  })
  await engine.commit(changes, { chainId: 4 })
  await engine.close()
}

export function accountHex(at: number): string {
  return account(at).toString('hex')
}

function account(at: number): Buffer {
  return Buffer.concat([Buffer.alloc(28, 0x5a), Buffer.from(Uint32Array.of(at).buffer)])
}

function address(last: number): Uint8Array {
  const bytes = new Uint8Array(32)
  bytes[31] = last
  return bytes
}

function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(BigInt(value))
  return bytes
}
