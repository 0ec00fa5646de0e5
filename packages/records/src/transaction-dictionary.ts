import { ByteWriter } from '@ledger-state/core'

// Bytes that deflate finds in the first block already: type tags of the framework's events and resources in BCS, as
// events and state keys have them. deflate reaches the end of a dictionary most cheaply, so the commonest come last.
// The bytes belong to the form of a block: a change of them is a new form.

const STRUCTS: readonly (readonly [address: number, module: string, ...names: string[]])[] = [
  [4, 'collection', 'Collection', 'ConcurrentSupply', 'Mint', 'MintEvent', 'Burn', 'BurnEvent'],
  [4, 'token', 'Token', 'TokenIdentifiers', 'Mutation', 'MutationEvent'],
  [4, 'property_map', 'PropertyMap'],
  [4, 'royalty', 'Royalty'],
  [3, 'token', 'TokenStore', 'DepositEvent', 'WithdrawEvent', 'TokenId', 'TokenDataId'],
  [1, 'string', 'String'],
  [1, 'table', 'Table'],
  [1, 'reconfiguration', 'Configuration', 'NewEpochEvent', 'NewEpoch'],
  [1, 'stake', 'StakePool', 'ValidatorPerformance', 'DistributeRewardsEvent', 'DistributeRewards'],
  [1, 'delegation_pool', 'DelegationPool'],
  [1, 'aggregator_v2', 'Aggregator'],
  [1, 'chain_status', 'GenesisEndMarker'],
  [1, 'state_storage', 'StateStorageUsage'],
  [1, 'timestamp', 'CurrentTimeMicroseconds'],
  [1, 'block', 'BlockResource', 'NewBlockEvent', 'NewBlock', 'UpdateEpochIntervalEvent'],
  [1, 'object', 'ObjectCore', 'ObjectGroup', 'Transfer', 'TransferEvent', 'Untransferable'],
  [1, 'account', 'Account', 'CoinRegisterEvent', 'CoinRegister', 'KeyRotation'],
  [1, 'coin', 'CoinInfo', 'CoinDeposit', 'CoinWithdraw', 'WithdrawEvent', 'DepositEvent'],
  [1, 'fungible_asset', 'Metadata', 'ConcurrentSupply', 'FungibleStore', 'Withdraw', 'Deposit'],
  [1, 'primary_fungible_store', 'DeriveRefPod'],
  [1, 'transaction_fee', 'FeeStatement', 'CollectedFeesPerBlock'],
]

const APTOS_COIN = structTag(1, 'aptos_coin', 'AptosCoin', [])

/** Dictionary of the blocks of transactions. */
export const TRANSACTION_DICTIONARY: Uint8Array = concatenated([
  ...STRUCTS.flatMap(([address, module, ...names]) => names.map((name) => structTag(address, module, name, []))),
  structTag(1, 'coin', 'CoinStore', [APTOS_COIN]),
])

/** A struct as a type tag: 7 · address · module · name · type arguments. */
function structTag(address: number, module: string, name: string, types: readonly Uint8Array[]): Uint8Array {
  const writer = new ByteWriter().u8(7).bytes(new Uint8Array(31)).u8(address).string(module).string(name)
  return writer.uleb128(types.length).bytes(concatenated(types)).toBytes()
}

function concatenated(parts: readonly Uint8Array[]): Uint8Array {
  return parts.reduce((writer, part) => writer.bytes(part), new ByteWriter()).toBytes()
}
