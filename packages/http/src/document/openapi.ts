import { KEPT_TRANSACTION_SCHEMA } from '../formats/transaction-formats.js'
import { CHAIN_STATE, FACTS, type FactName, type Operation, type Parameter } from '../operations/parts/operation.js'
import { type AnswerFormat, MEDIA_TYPE } from '../protocol/media-types.js'
import type { RequestExample, RequestExamples } from './request-example.js'

const ERROR_TEXTS: Readonly<Record<number, string>> = {
  400: 'The request, a type or a value in it is not valid.',
  403: 'This kind of output is not offered here, or was switched off.',
  404: 'The version is above the latest, or there is no such item.',
  410: 'The version has been pruned.',
  413: 'The body is too large.',
  415: 'The content type of the body is not JSON.',
  500: 'The service failed, or stored data cannot be read.',
  503: 'There is no ledger yet, the service is overloaded, or the version that the request waits for did not arrive in time.',
}

const TYPE_PATTERN =
  '^\\s*(bool|u8|u16|u32|u64|u128|u256|i8|i16|i32|i64|i128|i256|address|signer|vector\\s*<[\\s\\S]+>|0[xX][0-9a-zA-Z_$:<, >\\s]+)\\s*$'

const TYPE_PARAMETER = {
  type: 'object',
  required: ['constraints'],
  properties: { constraints: { type: 'array', items: { type: 'string' } } },
} as const

const HEX = { $ref: '#/components/schemas/HexEncodedBytes' }
const INFO_PROOF_MEMBERS = [
  'version',
  'transaction_info',
  'accumulator_siblings',
  'ledger_info',
  'epoch_endings',
] as const
const INFO_PROOF_PROPERTIES = {
  version: { $ref: '#/components/schemas/U64' },
  transaction_info: HEX,
  accumulator_siblings: { type: 'array', items: HEX },
  ledger_info: HEX,
  epoch_endings: { type: 'array', items: HEX },
}

const SCHEMAS = {
  U64: {
    type: 'string',
    format: 'uint64',
    description: 'A 64-bit unsigned integer as decimal text.',
    pattern: '^\\+?[0-9]+$',
  },
  Address: {
    type: 'string',
    format: 'hex',
    description: 'An account address: 1 to 64 hex digits, after an optional 0x.',
    pattern: '^(0x)?[0-9a-fA-F]{1,64}$',
  },
  AssetType: { type: 'string', description: 'An address, or a struct tag 0x…::module::Name.' },
  MoveType: { type: 'string', description: 'The name of a Move type.', pattern: TYPE_PATTERN },
  HexEncodedBytes: {
    type: 'string',
    format: 'hex',
    description: 'Two hex digits a byte, after an optional 0x.',
    pattern: '^(0x)?([0-9a-fA-F]{2})*$',
  },
  Bytes: { type: 'string', format: 'binary', description: 'The value in BCS.' },
  TableItemRequest: {
    type: 'object',
    required: ['key_type', 'value_type'],
    properties: {
      key_type: { $ref: '#/components/schemas/MoveType' },
      value_type: { $ref: '#/components/schemas/MoveType' },
      key: { description: 'The key; its shape follows `key_type`. Wide integers are decimal strings.' },
    },
  },
  RawTableItemRequest: {
    type: 'object',
    required: ['key'],
    properties: { key: { $ref: '#/components/schemas/HexEncodedBytes' } },
  },
  RawStateValueRequest: {
    type: 'object',
    required: ['key'],
    properties: { key: { $ref: '#/components/schemas/HexEncodedBytes' } },
  },
  StateProof: {
    type: 'object',
    description:
      'Proves a value, or its absence, from the signatures of validators: docs/ledger-formats.md, "Proofs of state values". In BCS the answer is an option of the bytes of the value, followed by the proof.',
    required: [
      'state_key',
      'state_value',
      'leaf',
      'siblings',
      'version',
      'transaction_info',
      'accumulator_siblings',
      'ledger_info',
      'epoch_endings',
    ],
    properties: {
      state_key: { $ref: '#/components/schemas/HexEncodedBytes' },
      state_value: { oneOf: [{ $ref: '#/components/schemas/HexEncodedBytes' }, { type: 'null' }] },
      leaf: {
        type: ['object', 'null'],
        properties: {
          key_hash: { $ref: '#/components/schemas/HexEncodedBytes' },
          value_hash: { $ref: '#/components/schemas/HexEncodedBytes' },
        },
      },
      siblings: { type: 'array', items: { $ref: '#/components/schemas/HexEncodedBytes' } },
      version: { $ref: '#/components/schemas/U64' },
      transaction_info: { $ref: '#/components/schemas/HexEncodedBytes' },
      accumulator_siblings: { type: 'array', items: { $ref: '#/components/schemas/HexEncodedBytes' } },
      ledger_info: { $ref: '#/components/schemas/HexEncodedBytes' },
      epoch_endings: { type: 'array', items: { $ref: '#/components/schemas/HexEncodedBytes' } },
    },
  },
  TransactionProof: {
    type: 'object',
    description:
      'Proves a transaction and its events from the signatures of validators: docs/ledger-formats.md, "Proofs of transactions and events". In BCS the answer is the bytes of the answer without a proof, with their length, followed by the proof.',
    required: ['transaction', 'events', ...INFO_PROOF_MEMBERS],
    properties: { transaction: HEX, events: HEX, ...INFO_PROOF_PROPERTIES },
  },
  EventProof: {
    type: 'object',
    description:
      'Proves an event from the signatures of validators: docs/ledger-formats.md, "Proofs of transactions and events". In BCS an item is the version and the event, with their length, followed by the proof.',
    required: ['event', 'event_index', 'event_siblings', ...INFO_PROOF_MEMBERS],
    properties: {
      event: HEX,
      event_index: { type: 'integer', minimum: 0 },
      event_siblings: { type: 'array', items: HEX },
      ...INFO_PROOF_PROPERTIES,
    },
  },
  ValuesProof: {
    type: 'object',
    description:
      'Proves all values on which an answer depends, and the keys that have none, from the signatures of validators: docs/ledger-formats.md, "Proofs of views and balances". In BCS the answer is the bytes of the answer without a proof, with their length, followed by the proof.',
    required: ['values', 'nodes', 'hashes', 'leaves', ...INFO_PROOF_MEMBERS],
    properties: {
      values: {
        type: 'array',
        items: {
          type: 'object',
          required: ['state_key', 'state_value'],
          properties: { state_key: HEX, state_value: { oneOf: [HEX, { type: 'null' }] } },
        },
      },
      nodes: HEX,
      hashes: { type: 'array', items: HEX },
      leaves: {
        type: 'array',
        items: {
          type: 'object',
          required: ['key_hash', 'value_hash'],
          properties: { key_hash: HEX, value_hash: HEX },
        },
      },
      ...INFO_PROOF_PROPERTIES,
    },
  },
  TableItemElement: {
    type: 'object',
    required: ['table_handle'],
    properties: {
      table_handle: { $ref: '#/components/schemas/Address' },
      key_type: { $ref: '#/components/schemas/MoveType' },
      value_type: { $ref: '#/components/schemas/MoveType' },
      key: {},
      raw_key: { $ref: '#/components/schemas/HexEncodedBytes' },
    },
  },
  ResourceElement: {
    type: 'object',
    required: ['address', 'resource_type'],
    properties: {
      address: { $ref: '#/components/schemas/Address' },
      resource_type: { $ref: '#/components/schemas/MoveType' },
    },
  },
  BalanceElement: {
    type: 'object',
    required: ['address', 'asset_type'],
    properties: {
      address: { $ref: '#/components/schemas/Address' },
      asset_type: { $ref: '#/components/schemas/AssetType' },
    },
  },
  OperationElement: {
    type: 'object',
    required: ['path'],
    properties: {
      path: { type: 'string', description: 'Path and query of the operation, starting with /v1.' },
      body: { type: 'object', description: 'The body of a POST; without one the operation is a GET.' },
    },
  },
  Account: {
    type: 'object',
    required: ['sequence_number', 'authentication_key'],
    properties: {
      sequence_number: { $ref: '#/components/schemas/U64' },
      authentication_key: { $ref: '#/components/schemas/HexEncodedBytes' },
    },
  },
  Resource: {
    type: 'object',
    required: ['type', 'data'],
    properties: {
      type: { type: 'string', description: 'The struct tag of the resource.' },
      data: { type: 'object', description: 'The value; its shape follows the type.' },
    },
  },
  Module: {
    type: 'object',
    required: ['bytecode', 'abi'],
    properties: {
      bytecode: { $ref: '#/components/schemas/HexEncodedBytes' },
      abi: {
        description: 'Null if the bytecode cannot be read as a module.',
        oneOf: [{ $ref: '#/components/schemas/ModuleAbi' }, { type: 'null' }],
      },
    },
  },
  ModuleAbi: {
    type: 'object',
    required: ['address', 'name', 'friends', 'exposed_functions', 'structs'],
    properties: {
      address: { $ref: '#/components/schemas/Address' },
      name: { type: 'string' },
      friends: { type: 'array', items: { type: 'string' } },
      exposed_functions: {
        type: 'array',
        items: {
          type: 'object',
          required: ['name', 'visibility', 'is_entry', 'is_view', 'generic_type_params', 'params', 'return'],
          properties: {
            name: { type: 'string' },
            visibility: { type: 'string', enum: ['private', 'public', 'friend'] },
            is_entry: { type: 'boolean' },
            is_view: { type: 'boolean' },
            generic_type_params: { type: 'array', items: TYPE_PARAMETER },
            params: { type: 'array', items: { type: 'string' } },
            return: { type: 'array', items: { type: 'string' } },
          },
        },
      },
      structs: {
        type: 'array',
        items: {
          type: 'object',
          required: ['name', 'is_native', 'is_event', 'is_enum', 'abilities', 'generic_type_params', 'fields'],
          properties: {
            name: { type: 'string' },
            is_native: { type: 'boolean' },
            is_event: { type: 'boolean' },
            is_enum: { type: 'boolean' },
            abilities: { type: 'array', items: { type: 'string' } },
            generic_type_params: { type: 'array', items: TYPE_PARAMETER },
            fields: {
              type: 'array',
              items: {
                type: 'object',
                required: ['name', 'type'],
                properties: { name: { type: 'string' }, type: { type: 'string' } },
              },
            },
          },
        },
      },
    },
  },
  Block: {
    type: 'object',
    required: ['block_height', 'block_hash', 'block_timestamp', 'first_version', 'last_version', 'transactions'],
    properties: {
      block_height: { $ref: '#/components/schemas/U64' },
      block_hash: { type: ['string', 'null'], format: 'hex' },
      block_timestamp: { $ref: '#/components/schemas/U64' },
      first_version: { $ref: '#/components/schemas/U64' },
      last_version: { $ref: '#/components/schemas/U64' },
      transactions: { type: ['array', 'null'], items: { $ref: '#/components/schemas/Transaction' } },
    },
  },
  Transaction: {
    type: 'object',
    description: 'A transaction as full nodes print it, with its events and changes.',
    required: ['type', 'version', 'hash', 'success', 'vm_status', 'changes'],
    properties: {
      type: { type: 'string', description: 'Such as `user_transaction`; it decides about the other members.' },
      version: { $ref: '#/components/schemas/U64' },
      hash: { $ref: '#/components/schemas/HexEncodedBytes' },
      success: { type: 'boolean' },
      vm_status: { type: 'string' },
      changes: { type: 'array', items: { type: 'object' } },
    },
  },
  TransactionSummary: {
    type: 'object',
    required: ['sender', 'version', 'transaction_hash', 'replay_protector'],
    properties: {
      sender: { $ref: '#/components/schemas/Address' },
      version: { $ref: '#/components/schemas/U64' },
      transaction_hash: { $ref: '#/components/schemas/HexEncodedBytes' },
      replay_protector: { type: 'string', description: 'Sequence number or nonce.' },
    },
  },
  VersionedEvent: {
    type: 'object',
    required: ['version', 'guid', 'sequence_number', 'type', 'data'],
    properties: {
      version: { $ref: '#/components/schemas/U64' },
      guid: { type: 'object' },
      sequence_number: { $ref: '#/components/schemas/U64' },
      type: { $ref: '#/components/schemas/MoveType' },
      data: { description: 'The value, or the hex of its bytes if they cannot be decoded.' },
    },
  },
  KeptTransaction: KEPT_TRANSACTION_SCHEMA,
  ViewRequest: {
    type: 'object',
    required: ['function', 'type_arguments', 'arguments'],
    properties: {
      function: { type: 'string', description: 'The function: 0x…::module::name.' },
      type_arguments: { type: 'array', items: { $ref: '#/components/schemas/MoveType' } },
      arguments: { type: 'array', items: {} },
    },
  },
  LedgerInfo: {
    type: 'object',
    required: [
      'chain_id',
      'epoch',
      'ledger_version',
      'oldest_ledger_version',
      'ledger_timestamp',
      'node_role',
      'oldest_block_height',
      'block_height',
    ],
    properties: {
      chain_id: { type: 'integer', minimum: 0, maximum: 255 },
      epoch: { $ref: '#/components/schemas/U64' },
      ledger_version: { $ref: '#/components/schemas/U64' },
      oldest_ledger_version: { $ref: '#/components/schemas/U64' },
      ledger_timestamp: { $ref: '#/components/schemas/U64' },
      node_role: { type: 'string', enum: ['full_node'] },
      oldest_block_height: { $ref: '#/components/schemas/U64' },
      block_height: { $ref: '#/components/schemas/U64' },
      git_hash: { type: ['string', 'null'] },
      encryption_key: { type: ['string', 'null'] },
    },
  },
  GasEstimation: {
    type: 'object',
    required: ['gas_estimate'],
    properties: {
      deprioritized_gas_estimate: { type: 'integer', format: 'uint64' },
      gas_estimate: { type: 'integer', format: 'uint64' },
      prioritized_gas_estimate: { type: 'integer', format: 'uint64' },
    },
  },
  Error: {
    type: 'object',
    required: ['message', 'error_code'],
    properties: {
      message: { type: 'string', minLength: 1 },
      error_code: {
        type: 'string',
        enum: [
          'account_not_found',
          'resource_not_found',
          'module_not_found',
          'struct_field_not_found',
          'version_not_found',
          'transaction_not_found',
          'table_item_not_found',
          'block_not_found',
          'state_value_not_found',
          'version_pruned',
          'block_pruned',
          'invalid_input',
          'invalid_transaction_update',
          'sequence_number_too_old',
          'vm_error',
          'rejected_by_filter',
          'health_check_failed',
          'mempool_is_full',
          'internal_error',
          'web_framework_error',
          'bcs_not_supported',
          'api_disabled',
        ],
      },
      vm_error_code: { type: 'integer', format: 'uint64' },
      nearest_proof_version: { $ref: '#/components/schemas/U64' },
      oldest_ledger_version: { $ref: '#/components/schemas/U64' },
      archival_endpoint: { type: 'string', format: 'uri' },
      errors: {
        type: 'array',
        items: { $ref: '#/components/schemas/GraphqlError' },
        description: 'Only of `/graphql`: the same error as clients of an indexer expect it.',
      },
    },
  },
  GraphqlError: {
    type: 'object',
    required: ['message', 'extensions'],
    properties: {
      message: { type: 'string', minLength: 1 },
      extensions: {
        type: 'object',
        required: ['path', 'code'],
        properties: { path: { type: 'string' }, code: { type: 'string' } },
      },
    },
  },
} as const

const ETAG_HEADER = {
  etag: { schema: { type: 'string' }, description: 'The tag of the answer, if the request names a version.' },
} as const

const RETRY_AFTER_HEADER = {
  'retry-after': {
    schema: { type: 'integer', format: 'int32', minimum: 0 },
    description: 'Seconds after which to ask again.',
  },
} as const

function versionParameter(name: string): Parameter {
  return {
    name,
    in: 'header',
    description: 'Ledger version at which state is read, for clients that cannot set the query.',
    schema: { $ref: '#/components/schemas/U64' },
  }
}

export interface HeaderNames {
  /** Words in the names of the chain-state headers: `x-<word>-chain-id`. */
  readonly words: readonly string[]
  /** Names of the headers with the beginning of the next page. */
  readonly cursorNames: readonly string[]
  /** Name of the header that says whether a history has all of its changes. */
  readonly completeName: string
  /** Names of the headers with further facts about an answer. */
  readonly factNames: Readonly<Record<FactName, string>>
  /** Name of the header with the version that a time meant. */
  readonly readVersionName: string
  /** Names of the request header with the version to read, one for each word. */
  readonly versionNames: readonly string[]
  /** Name of the request header with the version that the client has seen. */
  readonly minVersionName: string
}

/** Creates the OpenAPI 3.1 document of the served operations. */
export function createOpenApiDocument(
  operations: readonly Operation[],
  { words, cursorNames, completeName, factNames, readVersionName, versionNames, minVersionName }: HeaderNames,
  examples: RequestExamples,
) {
  // An error has them once there is a ledger.
  const chainState = (required: boolean) =>
    Object.fromEntries(
      words.flatMap((word) =>
        CHAIN_STATE.map(({ name, format, meaning }) => [
          `x-${word}-${name}`,
          { required, schema: { type: 'integer', format, minimum: 0 }, description: meaning },
        ]),
      ),
    )
  const cursorHeader = Object.fromEntries(
    cursorNames.map((name) => [
      name,
      {
        schema: { type: 'string' },
        description: 'Where the next page begins, to be sent as `start`. Absent on the last page.',
      },
    ]),
  )
  const completeHeader = {
    [completeName]: {
      schema: { type: 'boolean' },
      description:
        'Whether all changes of the range are known: false if the range begins before the oldest version of the store.',
    },
  }
  const factHeaders = Object.fromEntries(
    Object.entries(FACTS).map(([name, description]) => [
      factNames[name as FactName],
      { schema: { type: 'string' }, description },
    ]),
  )
  const readVersionHeader = {
    [readVersionName]: {
      schema: { type: 'string' },
      description: 'The version that was read, if the request names a time.',
    },
  }
  const minVersionParameter: Parameter = {
    name: minVersionName,
    in: 'header',
    schema: { $ref: '#/components/schemas/U64' },
    description:
      'The newest version that the client has seen: the request waits until that version is served, for 5 s at most.',
  }
  const paths: Record<string, Record<string, unknown>> = {}
  for (const operation of operations) {
    const entry = paths[operation.path.slice('/v1'.length) || '/'] ?? {}
    paths[operation.path.slice('/v1'.length) || '/'] = entry
    const readsAtTime = operation.parameters.some(({ name }) => name === 'ledger_timestamp' || name === 'to')
    entry[operation.method.toLowerCase()] = describeOperation(
      operation,
      examples[operation.id],
      [
        ...(operation.readsVersionHeader ? versionNames.map(versionParameter) : []),
        ...(operation.answersUnderLoad ? [] : [minVersionParameter]),
      ],
      {
        ...chainState(true),
        ...(operation.isTagged && ETAG_HEADER),
        ...(operation.isPaged && cursorHeader),
        ...(operation.tellsCompleteness && completeHeader),
        ...(operation.tellsFacts && factHeaders),
        ...(readsAtTime && readVersionHeader),
      },
      { ...chainState(false), ...(readsAtTime && readVersionHeader) },
    )
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Ledger State',
      version: '1.0.0',
      description: 'The state of a ledger at any version or time inside a window, and its history.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/v1' }],
    // No operation asks who sends a request.
    security: [],
    paths,
    components: { schemas: SCHEMAS },
  }
}

export type OpenApiDocument = ReturnType<typeof createOpenApiDocument>

function describeOperation(
  { id, tag, summary, description, parameters, requestBody, bcsRequestType, success, isTagged, errors }: Operation,
  { parameters: values = {}, body }: RequestExample = {},
  furtherParameters: readonly Parameter[],
  headers: object,
  errorHeaders: object,
) {
  const content = Object.fromEntries(
    Object.entries(success).map(([format, schema]) => [MEDIA_TYPE[format as AnswerFormat], { schema }]),
  )
  const error = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } }
  return {
    operationId: id,
    tags: [tag],
    summary,
    description,
    parameters: [
      ...[...parameters, ...furtherParameters].map((parameter) => ({
        ...parameter,
        required: parameter.in === 'path',
        example: exampleOf(parameter, values[parameter.name]),
      })),
    ],
    ...(requestBody && { requestBody: { required: true, content: requestContent(requestBody, body, bcsRequestType) } }),
    responses: Object.fromEntries([
      ['200', { description: 'Success.', headers, content }],
      ...(isTagged
        ? [['304', { description: 'The client has this answer: its tag is in `If-None-Match`.', headers }]]
        : []),
      ...errors.map((status) => [
        String(status),
        {
          description: ERROR_TEXTS[status],
          headers: status === 503 ? { ...errorHeaders, ...RETRY_AFTER_HEADER } : errorHeaders,
          content: error,
        },
      ]),
    ]),
  }
}

/** An example, which is given as text, as a value of the parameter's type. */
function exampleOf({ schema }: Parameter, text: string | undefined): string | number | boolean | undefined {
  if (text === undefined) return undefined
  const { type } = schema as { readonly type?: unknown }
  return type === 'integer' ? Number(text) : type === 'boolean' ? text === 'true' : text
}

function requestContent(schema: object, example: object | undefined, bcsType: string | undefined) {
  const json = { 'application/json': { schema, example } }
  return bcsType === undefined ? json : { ...json, [bcsType]: { schema: { $ref: '#/components/schemas/Bytes' } } }
}
