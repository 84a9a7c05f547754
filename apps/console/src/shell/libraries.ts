// The libraries that every view needs, besides React.
export { QueryClientProvider } from '@tanstack/react-query';
export { createRouter, RouterProvider } from '@tanstack/react-router';
