// Socket.IO: the server sends each event "m" of a client to all clients, and acknowledges it.
'use strict';
const { Server } = require('socket.io');
const { serve } = require('./serve.js');

serve((server) => {
  const io = new Server(server, { transports: ['websocket'], serveClient: false, perMessageDeflate: false });
  io.on('connection', (socket) => {
    socket.on('m', (text, ack) => {
      io.emit('m', text);
      if (typeof ack === 'function') ack();
    });
  });
});
