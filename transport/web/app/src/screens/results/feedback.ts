/**
 * The number of votes for each of the five grades, and the mean grade. The mean is null if there
 * are no votes.
 */
export function distribution(grades: readonly string[]): { counts: number[]; mean: number | null } {
  const counts = [0, 0, 0, 0, 0]
  let sum = 0
  let given = 0
  for (const g of grades) {
    const n = Number(g)
    if (!Number.isInteger(n) || n < 1 || n > 5) continue
    counts[n - 1]!++
    sum += n
    given++
  }
  return { counts, mean: given === 0 ? null : sum / given }
}
