export function Loading() {
  return (
    <p class="loading" role="status">
      Loading…
    </p>
  )
}
