/** Opens a settings section through the index. */
export async function section(page, name) {
  await page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name }).click()
  await page.getByRole('main').getByRole('heading', { level: 2, name, exact: true }).waitFor()
}
