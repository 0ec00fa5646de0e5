import type { OptionDefinitions } from './command-line.js'

export const dataDirOption = {
  'data-dir': { value: 'DIR', description: 'folder of the store', required: true },
} satisfies OptionDefinitions

export const retainOption = {
  retain: { value: 'N', description: 'keep a window of N versions, rounded up to whole blocks; prune what is older' },
} satisfies OptionDefinitions

const proofOptions = {
  'hash-salt': {
    value: 'SALT',
    description: 'word before the names of hashes (default APTOS::; a fork may have another)',
  },
  'no-verify': { description: 'do not compute hashes and proofs: faster, and believes what it reads' },
} satisfies OptionDefinitions

export const ingestOptions = {
  ...retainOption,
  ...proofOptions,
  waypoint: { value: 'V:HASH', description: 'waypoint that a genesis blob has to have' },
  'assume-empty-base': {
    description: 'take versions above 0 into an empty store; what was written before is then taken for nothing',
  },
  'chain-id': { value: 'N', description: 'id of the chain, for a source that does not tell' },
} satisfies OptionDefinitions

export const serveOptions = {
  listen: { value: 'HOST:PORT', description: 'address to listen on (default 127.0.0.1:8080; port 0 takes a free one)' },
  'header-word': {
    value: 'WORD',
    description: 'word in the chain-state headers x-WORD-… (default svc; aptos for existing clients)',
  },
  ...retainOption,
  'archival-endpoint': {
    value: 'URL',
    description: 'service, ending in /v1, that answers for versions pruned here; told to clients',
  },
  follow: { value: 'URL', description: 'take in what a node (…/v1) has next, in a process of its own' },
  ...proofOptions,
  'no-json': { description: 'refuse answers in JSON' },
  'no-bcs': { description: 'refuse answers in BCS' },
} satisfies OptionDefinitions
