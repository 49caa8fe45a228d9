// A hub on ws as most people write it: whatever a client says goes to all.
'use strict';
const { WebSocketServer, WebSocket } = require('ws');
const { serve } = require('./serve.js');

serve((server) => {
  const hub = new WebSocketServer({ server, perMessageDeflate: false, maxPayload: 1 << 20 });
  hub.on('connection', (socket) => {
    socket.on('error', () => {}); // what follows is its end
    socket.on('message', (data) => {
      for (const client of hub.clients) {
        if (client.readyState === WebSocket.OPEN) client.send(data, { binary: false });
      }
    });
  });
});
