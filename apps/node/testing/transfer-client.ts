import { Account, Aptos, AptosConfig, Network, TypeTagAddress, TypeTagU64 } from '@aptos-labs/ts-sdk'
import { TRANSFER_COIN } from './transfer-chain.ts'

/**
 * Transfers coins again and again through one address, as a program does: builds, signs, submits, waits, and then reads the
 * balances of both. Gives what was wrong.
 */
export async function transferAndRead(fullnode: string, sender: Account, rounds: number): Promise<string[]> {
  // The SDK remembers chain ids and gas prices by the names of networks, for all clients of a process.
  const aptos = new Aptos(new AptosConfig({ network: Network.LOCAL, fullnode }))
  const recipient = Account.generate().accountAddress
  const balanceOf = (accountAddress: Account['accountAddress']) =>
    aptos.account.getBalance({ accountAddress, asset: TRANSFER_COIN })
  const had = await balanceOf(sender.accountAddress)
  const wrong: string[] = []
  for (let round = 1; round <= rounds; round++) {
    const transaction = await aptos.transaction.build.simple({
      sender: sender.accountAddress,
      data: {
        function: '0x1::aptos_account::transfer',
        functionArguments: [recipient, 10 * round],
        abi: { typeParameters: [], parameters: [new TypeTagAddress(), new TypeTagU64()] },
      },
    })
    const { hash } = await aptos.signAndSubmitTransaction({ signer: sender, transaction })
    const { version } = await aptos.waitForTransaction({ transactionHash: hash })
    const [received, left, { sequence_number: next }] = await Promise.all([
      balanceOf(recipient),
      balanceOf(sender.accountAddress),
      aptos.account.getAccountInfo({ accountAddress: sender.accountAddress }),
    ])
    const sum = 5 * round * (round + 1)
    if (received !== sum || left !== had - sum || next !== String(round)) {
      wrong.push(
        `round ${round} at version ${version}: ${received}, ${had - left} and ${next} in place of ${sum} and ${round}`,
      )
    }
  }
  return wrong
}
