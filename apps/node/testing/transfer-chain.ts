// A fullnode that takes transfers of a coin, as published clients send them, and commits each a moment later.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  Account,
  Deserializer,
  Ed25519PrivateKey,
  SignedTransaction,
  type TransactionPayloadEntryFunction,
} from '@aptos-labs/ts-sdk'
import { ByteWriter, parseAddress, type VersionWrites, type Write } from '@ledger-state/core'
import { parseStructTag, resourceKey } from '@ledger-state/type-tag'

/** Chain id of local networks, which the SDK uses without asking. */
export const TRANSFER_CHAIN_ID = 4
export const TRANSFER_COIN = '0x1::aptos_coin::AptosCoin'
export const GAS_PRICE = 137
const COIN_STORE = parseStructTag(`0x1::coin::CoinStore<${TRANSFER_COIN}>`)
const ACCOUNT = parseStructTag('0x1::account::Account')
const USER_TRANSACTION = 0
const COMMIT_MS = 30

interface Holder {
  readonly address: Uint8Array
  balance: bigint
  sequenceNumber: bigint
}

interface Transaction {
  readonly hash: string
  readonly sender: string
  /** Version of the transaction; undefined while it is pending. */
  version: bigint | undefined
}

export interface TransferChain {
  /** URL of the API, ending in `/v1`. */
  readonly url: string
  /** Private key, as clients write it, of the account that has all coins. */
  readonly privateKey: string
  /** Versions of the ledger: those at the beginning, then one for each transfer. */
  readonly versions: readonly VersionWrites[]
  /** Called for each version that is added. */
  onVersion: (version: VersionWrites) => void
  /** Requests that it got. */
  readonly asked: string[]
  close(): Promise<void>
}

export async function startTransferChain(): Promise<TransferChain> {
  const privateKey = Ed25519PrivateKey.generate()
  const sender = Account.fromPrivateKey({ privateKey })
  const holders = new Map<string, Holder>()
  const transactions = new Map<string, Transaction>()
  const versions: VersionWrites[] = []
  const asked: string[] = []
  const waiting = new Set<() => void>()

  function holderAt(text: string): Holder {
    const address = parseAddress(text)
    const key = Buffer.from(address).toString('hex')
    const holder = holders.get(key) ?? { address, balance: 0n, sequenceNumber: 0n }
    holders.set(key, holder)
    return holder
  }

  function addVersion(changed: readonly Holder[]): bigint {
    const version = BigInt(versions.length)
    const block = { height: version, epoch: 0n, timestampUsec: BigInt(Date.now()) * 1_000n }
    const added = { version, block, writes: changed.flatMap(writesOf) }
    versions.push(added)
    chain.onVersion(added)
    return version
  }

  function submit(bytes: Buffer): object {
    const { raw_txn: raw } = SignedTransaction.deserialize(new Deserializer(bytes))
    const holder = holderAt(raw.sender.toString())
    if (raw.sequence_number !== holder.sequenceNumber || raw.chain_id.chainId !== TRANSFER_CHAIN_ID) {
      throw new Error(`sequence number ${raw.sequence_number}, ${holder.sequenceNumber} is expected`)
    }
    if (raw.gas_unit_price !== BigInt(GAS_PRICE)) throw new Error(`gas price ${raw.gas_unit_price}`)
    const [recipient, amount] = (raw.payload as TransactionPayloadEntryFunction).entryFunction.args
    const hash = transactionHash(bytes)
    const transaction: Transaction = { hash, sender: raw.sender.toString(), version: undefined }
    transactions.set(hash, transaction)
    setTimeout(() => {
      const to = holderAt(recipient!.bcsToHex().toString())
      const moved = Buffer.from(amount!.bcsToBytes()).readBigUInt64LE()
      holder.balance -= moved
      holder.sequenceNumber++
      to.balance += moved
      transaction.version = addVersion([holder, to])
      for (const go of waiting) go()
    }, COMMIT_MS)
    return { ...toJson(transaction), sequence_number: String(raw.sequence_number) }
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, url } = request
    asked.push(`${method} ${url}`)
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const send = (status: number, value: object): void => {
      response.writeHead(status, { 'content-type': 'application/json', ...headersOf(versions) })
      response.end(JSON.stringify(value))
    }
    if (method === 'POST' && url === '/v1/transactions') {
      try {
        send(202, submit(Buffer.concat(chunks)))
      } catch (error) {
        send(400, { message: String(error), error_code: 'vm_error', vm_error_code: 3 })
      }
      return
    }
    const [, how, hash] = /^\/v1\/transactions\/(by_hash|wait_by_hash)\/(0x[0-9a-f]{64})$/.exec(url!) ?? []
    const found = transactions.get(hash ?? '')
    if (url === '/v1') send(200, { chain_id: TRANSFER_CHAIN_ID, ledger_version: String(versions.length - 1) })
    else if (url === '/v1/estimate_gas_price') send(200, { gas_estimate: GAS_PRICE })
    else if (!found) send(404, { message: 'Transaction not found', error_code: 'transaction_not_found' })
    else {
      if (how === 'wait_by_hash' && found.version === undefined) {
        await new Promise<void>((resolve) => {
          waiting.add(resolve)
          setTimeout(resolve, 1_000)
        })
      }
      send(200, toJson(found))
    }
  }

  const server = createServer((request, response) => void answer(request, response))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const chain: TransferChain = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    privateKey: privateKey.toAIP80String(),
    versions,
    onVersion: () => {},
    asked,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  const first = holderAt(sender.accountAddress.toString())
  first.balance = 1_000_000n
  addVersion([first])
  return chain
}

function headersOf(versions: readonly VersionWrites[]): Record<string, string> {
  const { version, block } = versions.at(-1)!
  return {
    'x-aptos-chain-id': String(TRANSFER_CHAIN_ID),
    'x-aptos-ledger-version': String(version),
    'x-aptos-ledger-oldest-version': '0',
    'x-aptos-ledger-timestampusec': String(block!.timestampUsec),
    'x-aptos-epoch': '0',
    'x-aptos-block-height': String(version),
    'x-aptos-oldest-block-height': '0',
  }
}

function toJson({ hash, sender, version }: Transaction): object {
  if (version === undefined) return { hash, sender, type: 'pending_transaction' }
  const outcome = { success: true, vm_status: 'Executed successfully' }
  return { version: String(version), hash, ...outcome, sender, type: 'user_transaction' }
}

function writesOf({ address, balance, sequenceNumber }: Holder): Write[] {
  const coins = new ByteWriter()
    .u64(balance)
    .bytes(new Uint8Array(1 + 2 * 48))
    .toBytes()
  const account = new ByteWriter()
    .byteString(address)
    .u64(sequenceNumber)
    .bytes(new Uint8Array(8 + 2 * 48 + 2))
    .toBytes()
  return [
    [resourceKey(address, COIN_STORE), coins],
    [resourceKey(address, ACCOUNT), account],
  ]
}

/** Hash of a transaction: SHA3-256 over the hash of the type's name, the variant of the transaction, and its bytes. */
function transactionHash(signed: Uint8Array): string {
  const sha3 = (...parts: readonly Uint8Array[]): Buffer => {
    const hash = createHash('sha3-256')
    for (const part of parts) hash.update(part)
    return hash.digest()
  }
  const name = sha3(Buffer.from('APTOS::Transaction'))
  return `0x${sha3(name, Uint8Array.of(USER_TRANSACTION), signed).toString('hex')}`
}
