/** CPU time of this process during some work. Other processes disturb it least. */
export async function cpuMicroseconds(work: () => void | Promise<void>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return user + system
}
