import { addressToLongHex, addressToShortHex, ByteWriter } from '@ledger-state/core'
import type {
  AccountAuthenticator,
  AnyPublicKey,
  AnySignature,
  Ed25519Authenticator,
  Signers,
  TransactionAuthenticator,
} from '@ledger-state/proof/transactions'
import { hexText, jsonList } from './render-context.js'

const ED25519_KEY_LENGTH = 32
const ED25519_SIGNATURE_LENGTH = 64
const BITMAP_LENGTH = 4

/** The signature of a user's transaction as JSON, with members in the order of the reference. */
export function signatureToJson(authenticator: TransactionAuthenticator): string {
  switch (authenticator.kind) {
    case 'multi_agent':
      return withType(signerMembers(authenticator), 'multi_agent_signature')
    case 'fee_payer': {
      const { feePayerAddress, feePayer } = authenticator
      const members = `"fee_payer_address":"${addressToShortHex(feePayerAddress)}","fee_payer_signer":${accountToJson(feePayer)}`
      return withType(`${signerMembers(authenticator)},${members}`, 'fee_payer_signature')
    }
    case 'single_sender':
      // The type of the transaction's signature takes the place of the type of the account's signature.
      return withType(accountMembers(authenticator.sender), 'single_sender')
    default:
      return accountToJson(authenticator)
  }
}

function signerMembers({ sender, secondaryAddresses, secondarySigners }: Signers): string {
  const addresses = jsonList(Array.from(secondaryAddresses, (address) => `"${addressToShortHex(address)}"`))
  const signers = jsonList(Array.from(secondarySigners, accountToJson))
  return `"sender":${accountToJson(sender)},"secondary_signer_addresses":${addresses},"secondary_signers":${signers}`
}

/** Names of the types of account signatures. */
const TYPE_NAMES: Readonly<Record<AccountAuthenticator['kind'], string>> = {
  ed25519: 'ed25519_signature',
  multi_ed25519: 'multi_ed25519_signature',
  single_key: 'single_key_signature',
  multi_key: 'multi_key_signature',
  no_account: 'no_account_signature',
  abstract: 'abstract_signature',
}

function accountToJson(authenticator: AccountAuthenticator): string {
  return withType(accountMembers(authenticator), TYPE_NAMES[authenticator.kind])
}

/** Members of an account's signature, without its type. */
function accountMembers(authenticator: AccountAuthenticator): string {
  switch (authenticator.kind) {
    case 'ed25519':
      return `"public_key":${hexText(authenticator.publicKey)},"signature":${hexText(authenticator.signature)}`
    case 'multi_ed25519':
      return multiEd25519Members(authenticator)
    case 'single_key': {
      const { publicKey, signature } = authenticator
      return `"public_key":${publicKeyToJson(publicKey)},"signature":${anySignatureToJson(signature)}`
    }
    case 'multi_key': {
      const { publicKeys, signatures, signaturesRequired, bitmap } = authenticator
      const indexes = setBits(bitmap)
      const signed = Array.from(
        signatures,
        (one, at) => `{"index":${indexes[at] ?? 0},"signature":${anySignatureToJson(one)}}`,
      )
      const keys = jsonList(Array.from(publicKeys, publicKeyToJson))
      return `"public_keys":${keys},"signatures":${jsonList(signed)},"signatures_required":${signaturesRequired}`
    }
    case 'no_account':
      return ''
    default: {
      const { address, module, name } = authenticator
      const info = JSON.stringify(`${addressToLongHex(address).slice(2)}::${module}::${name}`)
      return `"function_info":${info},"auth_data":${hexText(abstractData(authenticator))}`
    }
  }
}

/** Keys and signatures follow each other; threshold and bitmap are their last bytes. */
function multiEd25519Members({ publicKey, signature }: Ed25519Authenticator): string {
  const keysEnd = Math.max(0, publicKey.length - 1)
  const signaturesEnd = Math.max(0, signature.length - BITMAP_LENGTH)
  const keys = jsonList(pieces(publicKey.subarray(0, keysEnd), ED25519_KEY_LENGTH).map(hexText))
  const signatures = jsonList(pieces(signature.subarray(0, signaturesEnd), ED25519_SIGNATURE_LENGTH).map(hexText))
  const threshold = publicKey[keysEnd] ?? 0
  const bitmap = hexText(signature.subarray(signaturesEnd))
  return `"public_keys":${keys},"signatures":${signatures},"threshold":${threshold},"bitmap":${bitmap}`
}

function publicKeyToJson(key: AnyPublicKey): string {
  return `{"value":${hexText('key' in key ? key.key : key.bytes)},"type":"${key.kind}"}`
}

function anySignatureToJson(signature: AnySignature): string {
  const isStruct = signature.kind === 'web_authn' || signature.kind === 'keyless'
  return `{"value":${hexText(isStruct ? signature.bytes : signature.signature)},"type":"${signature.kind}"}`
}

/** BCS of the data of an abstract signature. */
function abstractData({
  digest,
  signature,
  publicKey,
}: Extract<AccountAuthenticator, { readonly kind: 'abstract' }>): Uint8Array {
  const writer = new ByteWriter()
    .u8(publicKey ? 1 : 0)
    .byteString(digest)
    .byteString(signature)
  if (publicKey) writer.byteString(publicKey)
  return writer.toBytes()
}

/** Numbers of the bits that are set; the most significant bit of each byte comes first. */
export function setBits(bitmap: Uint8Array): number[] {
  const bits: number[] = []
  for (const [at, byte] of bitmap.entries()) {
    for (let bit = 0; bit < 8; bit++) if ((byte & (0x80 >> bit)) !== 0) bits.push(8 * at + bit)
  }
  return bits
}

function pieces(bytes: Uint8Array, length: number): Uint8Array[] {
  const found: Uint8Array[] = []
  for (let at = 0; at < bytes.length; at += length) found.push(bytes.subarray(at, at + length))
  return found
}

function withType(members: string, type: string): string {
  return `{${members}${members === '' ? '' : ','}"type":"${type}"}`
}
