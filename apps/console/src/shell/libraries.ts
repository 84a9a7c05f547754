// The libraries that every view needs.
export { createRoot } from 'react-dom/client';
export { QueryClientProvider } from '@tanstack/react-query';
export { createRouter, RouterProvider } from '@tanstack/react-router';
