// A lesson as one HTML file for a browser, without a network: its pages, and the numbers from which the
// scripts in page/ compute attention there; and the documentation as a folder of such pages.
#pragma once

// What other rooms use of it; the rest is its own.
#include "app/web/doc_site.h"
#include "app/web/html_lesson.h"
