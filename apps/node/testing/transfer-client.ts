import type * as sdk5 from '@aptos-labs/ts-sdk'
import { TRANSFER_COIN } from './transfer-chain.ts'

/**
 * Transfers coins again and again through one address, as a program does: it builds, signs, submits and waits, and then
 * reads both balances and the sequence number.
 * @param sdk the published client, in one of its versions
 * @returns the faults
 */
export async function transferAndRead(
  sdk: typeof sdk5,
  fullnode: string,
  privateKey: string,
  rounds: number,
): Promise<string[]> {
  // The SDK remembers chain ids and gas prices by the names of networks, for all clients of a process.
  const aptos = new sdk.Aptos(new sdk.AptosConfig({ network: sdk.Network.LOCAL, fullnode }))
  const signer = sdk.Account.fromPrivateKey({ privateKey: new sdk.Ed25519PrivateKey(privateKey) })
  const sender = signer.accountAddress
  const recipient = sdk.Account.generate().accountAddress
  const balanceOf = (accountAddress: sdk5.AccountAddress) =>
    aptos.account.getBalance({ accountAddress, asset: TRANSFER_COIN })
  const had = await balanceOf(sender)
  const wrong: string[] = []
  for (let round = 1; round <= rounds; round++) {
    const transaction = await aptos.transaction.build.simple({
      sender,
      data: {
        function: '0x1::aptos_account::transfer',
        functionArguments: [recipient, 10 * round],
        abi: { typeParameters: [], parameters: [new sdk.TypeTagAddress(), new sdk.TypeTagU64()] },
      },
    })
    const { hash } = await aptos.signAndSubmitTransaction({ signer, transaction })
    const { version } = await aptos.waitForTransaction({ transactionHash: hash })
    const [received, left, { sequence_number: next }] = await Promise.all([
      balanceOf(recipient),
      balanceOf(sender),
      aptos.account.getAccountInfo({ accountAddress: sender }),
    ])
    const sum = 5 * round * (round + 1)
    if (received !== sum || left !== had - sum || next !== String(round)) {
      const got = `received ${received}, sent ${had - left}, next ${next}`
      wrong.push(`round ${round}, version ${version}: ${got}, instead of ${sum} and ${round}`)
    }
  }
  return wrong
}
