// The servers of this folder share this code. It reads the address from the command line, prints a
// line on standard error when the server accepts connections, and ends the process on SIGTERM.
'use strict';
const { createServer } = require('node:http');

exports.serve = (attach) => {
  const at = process.argv.indexOf('--listen');
  const address = at > 0 ? process.argv[at + 1] : '127.0.0.1:0';
  const colon = address.lastIndexOf(':');
  const server = createServer((_, answer) => answer.writeHead(404).end());
  attach(server);
  server.on('error', (err) => {
    console.error(err.message);
    process.exit(1);
  });
  // Thousands of clients connect within a second, more than the default backlog allows.
  server.listen({ host: address.slice(0, colon), port: Number(address.slice(colon + 1)), backlog: 4096 }, () => {
    const { address: host, port } = server.address();
    console.error(`listening ${host}:${port}`);
  });
  process.on('SIGTERM', () => process.exit(0));
};
