export function balanceHistoryPath(address: string, asset: string): string {
  return `/accounts/${encodeURIComponent(address)}/balance/${encodeURIComponent(asset)}/history`
}
