// A typical hub on ws: it sends each message of a client to all clients.
'use strict';
const { WebSocketServer, WebSocket } = require('ws');
const { serve } = require('./serve.js');

serve((server) => {
  const hub = new WebSocketServer({ server, perMessageDeflate: false, maxPayload: 1 << 20 });
  hub.on('connection', (socket) => {
    socket.on('error', () => {}); // the connection ends afterwards
    socket.on('message', (data) => {
      for (const client of hub.clients) {
        if (client.readyState === WebSocket.OPEN) client.send(data, { binary: false });
      }
    });
  });
});
