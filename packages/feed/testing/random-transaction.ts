// Random transactions of all variants: each in BCS, and as the values that a decoder should read from it. Lists are arrays.
import { ByteWriter } from '@ledger-state/core'
import type { Random } from '@ledger-state/testing/random'
import { type TypeTag, writeTypeTag } from '@ledger-state/type-tag'

export interface RandomTransaction {
  readonly bytes: Uint8Array
  readonly expected: unknown
}

/** @param variant of the transaction: a number from 0 to 6 */
export function randomTransaction(random: Random, variant: number): RandomTransaction {
  const maker = new TransactionMaker(random)
  const expected = maker.transaction(variant)
  return { bytes: maker.writer.toBytes(), expected }
}

const SCRIPT_ARGUMENTS = [
  ['u8', 1],
  ['u64', 8],
  ['u128', 16],
  ['address', 32],
  ['vector<u8>', undefined],
  ['bool', 1],
  ['u16', 2],
  ['u32', 4],
  ['u256', 32],
  ['serialized', undefined],
  ['i8', 1],
  ['i16', 2],
  ['i32', 4],
  ['i64', 8],
  ['i128', 16],
  ['i256', 32],
] as const

/** Writes values, and returns each as a decoder should read it. */
class TransactionMaker {
  readonly writer = new ByteWriter()
  readonly #random: Random

  constructor(random: Random) {
    this.#random = random
  }

  transaction(variant: number): unknown {
    this.#tag(variant)
    switch (variant) {
      case 0:
        return this.#user()
      case 1:
        return { kind: 'genesis', payload: this.#writeSetPayload() }
      case 2:
        return { ...this.#blockMetadata(), extension: undefined }
      case 3:
        return { kind: 'state_checkpoint', blockId: this.#fixed(32) }
      case 4:
        return { kind: 'validator', validator: this.#validator() }
      case 5:
        return this.#extendedMetadata()
      default:
        return this.#epilogue()
    }
  }

  #user(): unknown {
    return {
      kind: 'user',
      sender: this.#fixed(32),
      sequenceNumber: this.#u64(),
      payload: this.#payload(),
      maxGas: this.#u64(),
      gasUnitPrice: this.#u64(),
      expirationSeconds: this.#u64(),
      chainId: this.#fixed(1)[0],
      authenticator: this.#transactionAuthenticator(),
    }
  }

  #payload(): unknown {
    switch (this.#tag(this.#random.pick([0, 2, 3, 4, 5]))) {
      case 0:
        return this.#script()
      case 2:
        return this.#entryFunction()
      case 3:
        return {
          kind: 'multisig',
          address: this.#fixed(32),
          called: this.#option(() => {
            this.#tag(0)
            return this.#entryFunction()
          }),
        }
      case 4:
        this.#tag(0)
        return { kind: 'versioned', executable: this.#executable(), extraConfig: this.#extraConfig() }
      default:
        return this.#encrypted()
    }
  }

  #encrypted(): unknown {
    const variant = this.#tag(this.#below(3))
    return {
      kind: 'encrypted',
      ciphertext: this.#byteString(),
      extraConfig: this.#extraConfig(),
      payloadHash: this.#fixed(32),
      evalProof: variant >= 1 ? this.#byteString() : undefined,
      decrypted: variant === 2 ? { executable: this.#executable(), nonce: this.#u64() } : undefined,
    }
  }

  #executable(): unknown {
    const variant = this.#tag(this.#below(3))
    if (variant === 0) return this.#script()
    return variant === 1 ? this.#entryFunction() : { kind: 'empty' }
  }

  #extraConfig(): unknown {
    this.#tag(0)
    return { multisigAddress: this.#option(() => this.#fixed(32)), nonce: this.#option(() => this.#u64()) }
  }

  #script(): unknown {
    return {
      kind: 'script',
      code: this.#byteString(),
      typeArguments: this.#list(() => this.#typeTag(0)),
      arguments: this.#list(() => {
        const [type, length] = SCRIPT_ARGUMENTS[this.#tag(this.#below(SCRIPT_ARGUMENTS.length))]!
        if (type === 'bool') return { type, bytes: this.#raw(Uint8Array.of(this.#below(2))) }
        return { type, bytes: length === undefined ? this.#byteString() : this.#fixed(length) }
      }),
    }
  }

  #entryFunction(): unknown {
    return {
      kind: 'entry_function',
      address: this.#fixed(32),
      module: this.#text(),
      name: this.#text(),
      typeArguments: this.#list(() => this.#typeTag(0)),
      arguments: this.#list(() => this.#byteString()),
    }
  }

  #transactionAuthenticator(): unknown {
    const variant = this.#tag(this.#below(5))
    if (variant < 2) return this.#ed25519(variant)
    if (variant === 4) return { kind: 'single_sender', sender: this.#accountAuthenticator() }
    const signers = {
      sender: this.#accountAuthenticator(),
      secondaryAddresses: this.#list(() => this.#fixed(32)),
      secondarySigners: this.#list(() => this.#accountAuthenticator()),
    }
    if (variant === 2) return { kind: 'multi_agent', ...signers }
    return {
      kind: 'fee_payer',
      ...signers,
      feePayerAddress: this.#fixed(32),
      feePayer: this.#accountAuthenticator(),
    }
  }

  #ed25519(variant: number): unknown {
    const kind = variant === 0 ? 'ed25519' : 'multi_ed25519'
    return { kind, publicKey: this.#byteString(), signature: this.#byteString() }
  }

  #accountAuthenticator(): unknown {
    const variant = this.#tag(this.#below(6))
    switch (variant) {
      case 2:
        return { kind: 'single_key', publicKey: this.#publicKey(), signature: this.#signature() }
      case 3:
        return {
          kind: 'multi_key',
          publicKeys: this.#list(() => this.#publicKey()),
          signaturesRequired: this.#fixed(1)[0],
          signatures: this.#list(() => this.#signature()),
          bitmap: this.#byteString(),
        }
      case 4:
        return { kind: 'no_account' }
      case 5: {
        const called = { address: this.#fixed(32), module: this.#text(), name: this.#text() }
        const data = this.#tag(this.#below(2))
        return {
          kind: 'abstract',
          ...called,
          digest: this.#byteString(),
          signature: this.#byteString(),
          publicKey: data === 1 ? this.#byteString() : undefined,
        }
      }
      default:
        return this.#ed25519(variant)
    }
  }

  #publicKey(): unknown {
    const variant = this.#tag(this.#below(5))
    if (variant < 3)
      return { kind: ['ed25519', 'secp256k1_ecdsa', 'secp256r1_ecdsa'][variant], key: this.#byteString() }
    return this.#withBytes(() => ({
      kind: variant === 3 ? 'keyless' : 'federated_keyless',
      jwkAddress: variant === 4 ? this.#fixed(32) : undefined,
      issuer: this.#text(),
      idCommitment: this.#byteString(),
    }))
  }

  #signature(): unknown {
    const variant = this.#tag(this.#below(4))
    if (variant < 2) return { kind: ['ed25519', 'secp256k1_ecdsa'][variant], signature: this.#byteString() }
    return this.#withBytes(() =>
      variant === 2 ? { kind: 'web_authn', ...this.#webAuthn() } : { kind: 'keyless', ...this.#keyless() },
    )
  }

  #webAuthn() {
    this.#tag(0)
    return { signature: this.#byteString(), authenticatorData: this.#byteString(), clientData: this.#byteString() }
  }

  #keyless() {
    return {
      certificate: this.#certificate(),
      jwtHeader: this.#text(),
      expirySeconds: this.#u64(),
      ephemeralPublicKey: {
        kind: this.#tag(this.#below(2)) === 0 ? 'ed25519' : 'secp256r1_ecdsa',
        key: this.#byteString(),
      },
      ephemeralSignature: this.#ephemeralSignature(),
    }
  }

  #certificate(): unknown {
    if (this.#tag(this.#below(2)) === 0) {
      this.#tag(0)
      return {
        kind: 'zero_knowledge',
        proof: this.#fixed(128),
        expiryHorizonSeconds: this.#u64(),
        extraField: this.#option(() => this.#text()),
        overrideAudience: this.#option(() => this.#text()),
        trainingWheelsSignature: this.#option(() => this.#ephemeralSignature()),
      }
    }
    return {
      kind: 'open_id',
      jwtSignature: this.#byteString(),
      jwtPayload: this.#text(),
      uidKey: this.#text(),
      blinder: this.#byteString(),
      pepper: this.#byteString(),
      idCommitmentAudience: this.#option(() => this.#text()),
    }
  }

  #ephemeralSignature(): unknown {
    return this.#tag(this.#below(2)) === 0
      ? { kind: 'ed25519', signature: this.#byteString() }
      : { kind: 'web_authn', ...this.#webAuthn() }
  }

  #writeSetPayload(): unknown {
    if (this.#tag(this.#below(2)) === 1) {
      return { kind: 'script', executeAs: this.#fixed(32), script: this.#script() }
    }
    const writeSetStart = this.writer.length
    this.#tag(0)
    this.#list(() => this.#write())
    const eventsStart = this.writer.length
    return { kind: 'direct', writeSetStart, eventsStart, events: this.#list(() => this.#event()) }
  }

  #write(): void {
    this.#tag(1)
    this.#fixed(32)
    this.#byteString()
    const op = this.#tag(this.#below(6))
    if (op % 3 !== 2) this.#byteString()
    if (op < 3) return
    const deposits = this.#tag(this.#below(2)) + 1
    for (let rest = deposits + 1; rest > 0; rest--) this.#u64()
  }

  #event(): unknown {
    const hasKey = this.#tag(this.#below(2)) === 0
    const key = hasKey
      ? { creationNumber: this.#u64(), address: this.#fixed(32), sequenceNumber: this.#u64() }
      : undefined
    return { key, type: this.#typeTag(0), data: this.#byteString() }
  }

  #blockMetadata() {
    return {
      kind: 'block_metadata',
      id: this.#fixed(32),
      epoch: this.#u64(),
      round: this.#u64(),
      proposer: this.#fixed(32),
      previousVotes: this.#byteString(),
      failedProposers: this.#list(() => Buffer.from(this.#fixed(4)).readUInt32LE()),
      timestampUsec: this.#u64(),
    }
  }

  #extendedMetadata(): unknown {
    const variant = this.#tag(this.#below(2))
    const metadata = this.#blockMetadata()
    if (variant === 0) return { ...metadata, extension: { variant } }
    const randomness = this.#option(() => ({ epoch: this.#u64(), round: this.#u64(), bytes: this.#byteString() }))
    return { ...metadata, extension: { variant, randomness } }
  }

  #epilogue(): unknown {
    const variant = this.#tag(this.#below(2))
    const blockId = this.#fixed(32)
    this.#tag(0)
    const end = {
      gasLimitReached: this.#tag(this.#below(2)) === 1,
      outputLimitReached: this.#tag(this.#below(2)) === 1,
      effectiveGasUnits: this.#u64(),
      approximateOutputSize: this.#u64(),
    }
    if (variant === 1) this.#tag(0)
    const fees = variant === 1 ? this.#list(() => [this.#u64(), this.#u64()]) : undefined
    return { kind: 'block_epilogue', blockId, ...end, fees }
  }

  #validator(): unknown {
    if (this.#tag(this.#below(2)) === 0) {
      return { kind: 'dkg_result', epoch: this.#u64(), author: this.#fixed(32), transcript: this.#byteString() }
    }
    return {
      kind: 'observed_jwk_update',
      issuer: this.#byteString(),
      version: this.#u64(),
      jwks: this.#list(() => ({ type: this.#text(), bytes: this.#byteString() })),
      signers: this.#byteString(),
      signature: this.#option(() => this.#byteString()),
    }
  }

  #typeTag(depth: number): TypeTag {
    const tag = this.#someTypeTag(depth)
    if (depth === 0) writeTypeTag(this.writer, tag)
    return tag
  }

  #someTypeTag(depth: number): TypeTag {
    const kind = this.#below(depth > 3 ? 2 : 5)
    if (kind < 2) return { kind: this.#random.pick(['u8', 'address', 'i256'] as const) }
    if (kind === 2) return { kind: 'vector', element: this.#someTypeTag(depth + 1) }
    const some = (): TypeTag[] => Array.from({ length: this.#below(3) }, () => this.#someTypeTag(depth + 1))
    if (kind === 3) {
      const slots = () => some().map((type) => ({ passing: this.#random.pick(['reference', 'value'] as const), type }))
      return { kind: 'function', parameters: slots(), results: slots(), abilities: this.#below(16) }
    }
    return { kind: 'struct', address: this.#random.bytes(32), module: 'm', name: 'Name', typeArguments: some() }
  }

  #withBytes(write: () => object): object {
    const start = this.writer.length
    const value = write()
    return { ...value, bytes: this.writer.toBytes().subarray(start) }
  }

  #list<T>(item: () => T): T[] {
    const length = this.#random.below(60) === 0 ? 130 : this.#below(4)
    this.writer.uleb128(length)
    return Array.from({ length }, item)
  }

  #option<T>(value: () => T): T | undefined {
    return this.#tag(this.#below(2)) === 1 ? value() : undefined
  }

  #text(): string {
    const text = 'é_aZ'.repeat(this.#below(5))
    this.writer.string(text)
    return text
  }

  #byteString(): Uint8Array {
    const length = this.#random.pick([0, 1, 32, 64, 65, 300])
    this.writer.uleb128(length)
    // Runs of one byte, as in arguments full of zeros, look like infos to a search.
    return this.#raw(this.#below(3) === 0 ? new Uint8Array(length).fill(this.#below(3)) : this.#random.bytes(length))
  }

  #fixed(length: number): Uint8Array {
    return this.#raw(this.#random.bytes(length))
  }

  #raw(bytes: Uint8Array): Uint8Array {
    this.writer.bytes(bytes)
    return bytes
  }

  #u64(): bigint {
    const value = Buffer.from(this.#random.bytes(8)).readBigUInt64LE()
    this.writer.u64(value)
    return value
  }

  #tag(variant: number): number {
    this.writer.uleb128(variant)
    return variant
  }

  #below(limit: number): number {
    return this.#random.below(limit)
  }
}
