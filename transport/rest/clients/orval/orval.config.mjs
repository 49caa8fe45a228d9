// The client knows the server's address: here that of the test.
export default {
  atelier: {
    input: './openapi.json',
    output: { target: './atelier.ts', client: 'fetch', baseUrl: `${process.env.ATELIER_URL}/api` },
  },
}
