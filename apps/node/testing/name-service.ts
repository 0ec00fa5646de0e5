import { addressToLongHex, ByteWriter, parseAddress, type Write } from '@ledger-state/core'
import { type AssemblyLine, assembleModule, type Callee, type SignatureToken } from '@ledger-state/move-module'
import { moduleKey, parseStructTag, resourceKey } from '@ledger-state/type-tag'

// A name service with the views that helpers of the SDKs call, and with one name. Its functions have the names,
// parameters and results of the router of Aptos Names; the code is ours.

/** Address at which the SDKs look for the name service of a local network. */
export const NAME_SERVICE = '0x585fc9f0f0c54183b039ffc770ca282ebd87307916c215a3e692f2f8e4305e82'

export const NAME = {
  domain: 'harbour',
  subdomain: 'lisboa',
  owner: `0x${'a1'.repeat(32)}`,
  target: `0x${'a2'.repeat(32)}`,
  expirationSeconds: 1_800_000_000,
}

const SERVICE = parseAddress(NAME_SERVICE)
const FRAMEWORK = parseAddress('0x1')
const OPTION = { address: FRAMEWORK, name: 'option' }
const ADDRESS: SignatureToken = { kind: 'address' }
const U64: SignatureToken = { kind: 'u64' }
const BOOL: SignatureToken = { kind: 'bool' }
const STRING: SignatureToken = struct({ address: FRAMEWORK, name: 'string' }, 'String')
const RECORD: SignatureToken = struct({ address: SERVICE, name: 'router' }, 'Record')
const NAME_PARAMETERS = [STRING, optionOf(STRING)]
const UNKNOWN_NAME = 1

const isRecorded: Callee = { name: 'is_recorded' }

/** The module of the name service and its record. */
export function nameServiceWrites(): Write[] {
  const { domain, subdomain, owner, target, expirationSeconds } = NAME
  const record = new ByteWriter().string(domain).uleb128(1).string(subdomain)
  record.bytes(parseAddress(owner)).uleb128(1).bytes(parseAddress(target)).u64(BigInt(expirationSeconds))
  return [
    [moduleKey(SERVICE, 'router'), router()],
    [resourceKey(SERVICE, parseStructTag(`${addressToLongHex(SERVICE)}::router::Record`)), record.toBytes()],
  ]
}

function router(): Uint8Array {
  return assembleModule({
    address: NAME_SERVICE,
    name: 'router',
    structs: [
      {
        name: 'Record',
        abilities: 8,
        fields: [
          ['domain', STRING],
          ['subdomain', optionOf(STRING)],
          ['owner', ADDRESS],
          ['target', optionOf(ADDRESS)],
          ['expiration', U64],
        ],
      },
    ],
    functions: [
      {
        name: 'is_recorded',
        parameters: NAME_PARAMETERS,
        results: [BOOL],
        locals: [{ kind: 'reference', mutable: false, to: RECORD }],
        visibility: 'private',
        isView: false,
        code: [
          ...borrowRecord(),
          ['st_loc', 2],
          ['copy_loc', 2],
          ['imm_borrow_field', 'Record.domain'],
          ['imm_borrow_loc', 0],
          ['eq'],
          ['move_loc', 2],
          ['imm_borrow_field', 'Record.subdomain'],
          ['imm_borrow_loc', 1],
          ['eq'],
          ['and'],
          ['ret'],
        ],
      },
      {
        name: 'get_owner_addr',
        parameters: NAME_PARAMETERS,
        results: [optionOf(ADDRESS)],
        code: whereRecorded(
          [...readField('owner'), ['call_generic', some(ADDRESS)]],
          [['call_generic', none(ADDRESS)], ['ret']],
        ),
      },
      {
        name: 'get_target_addr',
        parameters: NAME_PARAMETERS,
        results: [optionOf(ADDRESS)],
        code: whereRecorded(readField('target'), [['call_generic', none(ADDRESS)], ['ret']]),
      },
      {
        name: 'get_expiration',
        parameters: NAME_PARAMETERS,
        results: [U64],
        code: whereRecorded(readField('expiration'), [['ld_u64', UNKNOWN_NAME], ['abort']]),
      },
      {
        name: 'get_primary_name',
        parameters: [ADDRESS],
        results: [optionOf(STRING), optionOf(STRING)],
        code: [
          ...readField('owner'),
          ['move_loc', 0],
          ['eq'],
          ['br_true', 'owner'],
          ['call_generic', none(STRING)],
          ['call_generic', none(STRING)],
          ['ret'],
          { label: 'owner' },
          ...readField('subdomain'),
          ...readField('domain'),
          ['call_generic', some(STRING)],
          ['ret'],
        ],
      },
    ],
  })
}

function struct(module: { readonly address: Uint8Array; readonly name: string }, name: string): SignatureToken {
  return { kind: 'struct', module, name, typeArguments: [] }
}

function optionOf(type: SignatureToken): SignatureToken {
  return { kind: 'struct', module: OPTION, name: 'Option', typeArguments: [type] }
}

function some(type: SignatureToken): Callee {
  const of: SignatureToken = { kind: 'typeParameter', index: 0 }
  return {
    ...{ module: OPTION, name: 'some', typeParameters: [0], typeArguments: [type] },
    ...{ parameters: [of], results: [optionOf(of)] },
  }
}

function none(type: SignatureToken): Callee {
  return { ...some(type), name: 'none', parameters: [] }
}

function borrowRecord(): AssemblyLine[] {
  return [
    ['ld_const', { constant: SERVICE, type: ADDRESS }],
    ['imm_borrow_global', 'Record'],
  ]
}

function readField(name: string): AssemblyLine[] {
  return [...borrowRecord(), ['imm_borrow_field', `Record.${name}`], ['read_ref']]
}

/** Code of a function with the parts of a name as parameters. */
function whereRecorded(found: readonly AssemblyLine[], absent: readonly AssemblyLine[]): AssemblyLine[] {
  return [
    ['move_loc', 0],
    ['move_loc', 1],
    ['call', isRecorded],
    ['br_false', 'absent'],
    ...found,
    ['ret'],
    { label: 'absent' },
    ...absent,
  ]
}
