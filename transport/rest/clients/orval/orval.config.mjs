// The generated client contains the server's address, here the address of the test server.
export default {
  atelier: {
    input: './openapi.json',
    output: { target: './atelier.ts', client: 'fetch', baseUrl: `${process.env.ATELIER_URL}/api` },
  },
}
