import { ADDRESS_LENGTH, type ByteReader } from '@ledger-state/core'
import { readName, readTypeTag, skipTypeTag, type TypeTag } from '@ledger-state/type-tag'
import { type BcsList, readBcsList, readByteString } from '../bcs-list.js'
import { readVariant, unknownVariant } from '../variant.js'
import { readScriptArgument, type ScriptArgument } from './script-argument.js'

// See docs/ledger-formats.md, "Payloads".

const HASH_LENGTH = 32
const SCRIPT = 0
const MODULE_BUNDLE = 1
const ENTRY_FUNCTION = 2
const MULTISIG = 3
const VERSIONED = 4
const PAYLOAD_VARIANTS = 6
const EXECUTABLES = 3
const ENCRYPTED_VARIANTS = 3

/** A script. The transaction includes its code. */
export interface Script {
  readonly kind: 'script'
  readonly code: Uint8Array
  readonly typeArguments: BcsList<TypeTag>
  readonly arguments: BcsList<ScriptArgument>
}

/** A call of an entry function. */
export interface EntryFunction {
  readonly kind: 'entry_function'
  readonly address: Uint8Array
  readonly module: string
  readonly name: string
  readonly typeArguments: BcsList<TypeTag>
  /** Each is the BCS of its parameter. Signers are left out. */
  readonly arguments: BcsList<Uint8Array>
}

/** A call in the name of an account of several owners. */
export interface MultisigPayload {
  readonly kind: 'multisig'
  readonly address: Uint8Array
  /** The call; undefined if it is kept on chain. */
  readonly called: EntryFunction | undefined
}

/** The program of a versioned payload. */
export type Executable = Script | EntryFunction | { readonly kind: 'empty' }

/** Settings of a versioned payload. */
export interface ExtraConfig {
  readonly multisigAddress: Uint8Array | undefined
  /** Nonce of a transaction without a sequence number. */
  readonly nonce: bigint | undefined
}

/** The payload of newer chains. */
export interface VersionedPayload {
  readonly kind: 'versioned'
  readonly executable: Executable
  readonly extraConfig: ExtraConfig
}

/** A payload that validators decrypt. */
export interface EncryptedPayload {
  readonly kind: 'encrypted'
  readonly ciphertext: Uint8Array
  readonly extraConfig: ExtraConfig
  readonly payloadHash: Uint8Array
  /** Proof of a decryption, which succeeded if there is an executable. */
  readonly evalProof: Uint8Array | undefined
  readonly decrypted: { readonly executable: Executable; readonly nonce: bigint } | undefined
}

/** The payload of a user's transaction. */
export type Payload = Script | EntryFunction | MultisigPayload | VersionedPayload | EncryptedPayload

/** Reads the payload of a user's transaction. @throws `UnknownVariantError`, `invalid_bcs` */
export function readPayload(reader: ByteReader): Payload {
  const start = reader.offset
  const variant = readVariant(reader, 'a payload', PAYLOAD_VARIANTS)
  switch (variant) {
    case SCRIPT:
      return readScript(reader)
    case MODULE_BUNDLE:
      // No public chain has one that decodes today.
      throw unknownVariant('a payload', variant, start)
    case ENTRY_FUNCTION:
      return readEntryFunction(reader)
    case MULTISIG:
      return readMultisig(reader)
    case VERSIONED:
      readVariant(reader, 'a versioned payload', 1)
      return { kind: 'versioned', executable: readExecutable(reader), extraConfig: readExtraConfig(reader) }
    default:
      return readEncrypted(reader)
  }
}

/** Reads a script. @throws `UnknownVariantError`, `invalid_bcs` */
export function readScript(reader: ByteReader): Script {
  return {
    kind: 'script',
    code: reader.readByteString(),
    typeArguments: readTypeArguments(reader),
    arguments: readBcsList(reader, readScriptArgument),
  }
}

function readEntryFunction(reader: ByteReader): EntryFunction {
  return {
    kind: 'entry_function',
    address: reader.readBytes(ADDRESS_LENGTH),
    module: readName(reader),
    name: readName(reader),
    typeArguments: readTypeArguments(reader),
    arguments: readBcsList(reader, readByteString, skipByteString),
  }
}

function readMultisig(reader: ByteReader): MultisigPayload {
  const address = reader.readBytes(ADDRESS_LENGTH)
  const called = reader.readOption(() => {
    readVariant(reader, 'the payload of a multisig', 1)
    return readEntryFunction(reader)
  })
  return { kind: 'multisig', address, called }
}

function readExecutable(reader: ByteReader): Executable {
  const variant = readVariant(reader, 'an executable', EXECUTABLES)
  if (variant === 0) return readScript(reader)
  return variant === 1 ? readEntryFunction(reader) : { kind: 'empty' }
}

function readExtraConfig(reader: ByteReader): ExtraConfig {
  readVariant(reader, 'the configuration of a payload', 1)
  return {
    multisigAddress: reader.readOption(() => reader.readBytes(ADDRESS_LENGTH)),
    nonce: reader.readOption(() => reader.readU64()),
  }
}

function readEncrypted(reader: ByteReader): EncryptedPayload {
  const variant = readVariant(reader, 'an encrypted payload', ENCRYPTED_VARIANTS)
  return {
    kind: 'encrypted',
    ciphertext: reader.readByteString(),
    extraConfig: readExtraConfig(reader),
    payloadHash: reader.readBytes(HASH_LENGTH),
    evalProof: variant >= 1 ? reader.readByteString() : undefined,
    decrypted: variant === 2 ? { executable: readExecutable(reader), nonce: reader.readU64() } : undefined,
  }
}

function readTypeArguments(reader: ByteReader): BcsList<TypeTag> {
  return readBcsList(reader, readTypeTag, skipTypeTag)
}

function skipByteString(reader: ByteReader): void {
  reader.skip(reader.readLength())
}
