import type { OptionDefinitions } from './command-line.js'

export const dataDirOption = {
  'data-dir': { value: 'DIR', description: 'folder of the store', required: true },
} satisfies OptionDefinitions

export const retainOption = {
  retain: { value: 'N', description: 'keep a window of N versions, rounded up to whole blocks; prune what is older' },
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
  'no-json': { description: 'refuse answers in JSON' },
  'no-bcs': { description: 'refuse answers in BCS' },
} satisfies OptionDefinitions
